import type { DeskAnswer, DeskHost, DeskRole, EntranceRequest } from '@agent-exchange/desk'
import { SignOnFailure, type SignedOn, type SingleSignOn } from '@agent-exchange/server/sign-on'
import { localPath, openCookie, requestOrigin, sealCookie, type SiteAddress } from '@agent-exchange/web'
import { ApprovalProblem } from '../approvals/approval-problem.ts'
import type { Passkeys } from '../approvals/passkeys.ts'
import type { GatewaySessions } from '../people/desk-sessions.ts'
import { ABSOLUTE_MS } from '../people/people-limits.ts'
import { cookieFor, type DeskCookie } from './desk-cookies.ts'
import { MAXIMUM_FINISHING, SIGN_ON_SECONDS } from './desk-limits.ts'
import {
  faultPage,
  linkPage,
  passkeyPage,
  signedInPage,
  signInPage,
  type SignInFault,
} from './sign-in-pages.ts'

export interface EntranceParts {
  readonly sessions: GatewaySessions
  readonly passkeys: Passkeys
  /** Undefined: people are invited by links. */
  readonly signOn: SingleSignOn<DeskRole> | undefined
  /** 32 bytes that all instances share. */
  readonly key: Uint8Array
  readonly cookie: DeskCookie
  readonly address: SiteAddress
  readonly now: () => Date
  readonly log: { warn(fields: object, message: string): void }
}

const CALLBACK = '/sign-in/oidc/callback'

interface Pending {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly next: string
  readonly expiresAt: string
  /** The provider was asked to ask the person. */
  readonly asksAgain: boolean
}

type Entrance = Pick<DeskHost, 'enter' | 'signedOut'>
type Answering = (request: EntranceRequest) => Promise<DeskAnswer>

/** The addresses of a browser that is not signed in yet. */
export function createEntrance(parts: EntranceParts): Entrance {
  const { sessions, passkeys, signOn, key, cookie, address, now, log } = parts
  const pendingCookie = cookieFor(address, 'desk-oidc')
  let finishing = 0

  const ways = { issuer: signOn?.issuer, hasPasskeys: passkeys.isAvailable }
  const fault = (code: SignInFault) => faultPage(code, signOn?.issuer)
  const sessionCookie = (token: string) => cookie.set(token, ABSOLUTE_MS / 1_000)
  const entered = (token: string | undefined, to: string, refused: SignInFault): DeskAnswer =>
    token === undefined
      ? fault(refused)
      : { kind: 'redirect', to, headers: { 'set-cookie': sessionCookie(token) } }

  /** The provider's answer leads here from another site; see the page for why there is no redirect. */
  async function comeBack(request: EntranceRequest, provider: SingleSignOn<DeskRole>): Promise<DeskAnswer> {
    const pending = openCookie(key, 'desk-oidc', pendingCookie.read(request.headers.cookie)) as
      | Pending
      | undefined
    if (pending === undefined || Date.parse(pending.expiresAt) <= now().getTime()) return fault('expired')
    const { displayName, subject, email, roles } = await finish(provider, answerUrl(request), pending)
    const token = await sessions.signInWithProvider({
      issuer: provider.issuer,
      subject,
      name: displayName ?? email ?? subject,
      roles,
      isFresh: pending.asksAgain,
      ...(email !== undefined && { email }),
    })
    if (token === undefined) return fault('removed')
    const cookies = [sessionCookie(token), pendingCookie.clear()]
    return signedInPage(pending.next, { 'set-cookie': cookies, refresh: `0; url=${pending.next}` })
  }

  async function finish(
    provider: SingleSignOn<DeskRole>,
    answer: URL,
    checks: Pending,
  ): Promise<SignedOn<DeskRole>> {
    if (finishing >= MAXIMUM_FINISHING) throw new SignOnFailure('provider_unavailable')
    finishing += 1
    try {
      // Since the browser left: only an authentication after that counts as one of this sign-in.
      const left = Date.parse(checks.expiresAt) - SIGN_ON_SECONDS * 1_000
      const maximumAgeSeconds = Math.ceil((now().getTime() - left) / 1_000)
      return await provider.finish(answer, checks, checks.asksAgain ? { maximumAgeSeconds } : {})
    } finally {
      finishing -= 1
    }
  }

  const originOf = ({ headers }: EntranceRequest) => requestOrigin(headers.host, address)
  const answerUrl = (request: EntranceRequest) =>
    new URL(`${request.url.pathname}${request.url.search}`, originOf(request))

  async function leave(request: EntranceRequest, provider: SingleSignOn<DeskRole>): Promise<DeskAnswer> {
    const asksAgain = request.url.searchParams.has('again')
    const { url, checks } = await provider.start(originOf(request) + CALLBACK, { asksAgain })
    const expiresAt = new Date(now().getTime() + SIGN_ON_SECONDS * 1_000).toISOString()
    const pending: Pending = { ...checks, next: nextOf(request), expiresAt, asksAgain }
    const sealed = sealCookie(key, 'desk-oidc', pending)
    return {
      kind: 'redirect',
      to: url,
      headers: { 'set-cookie': pendingCookie.set(sealed, SIGN_ON_SECONDS) },
    }
  }

  const withProvider =
    (work: (request: EntranceRequest, provider: SingleSignOn<DeskRole>) => Promise<DeskAnswer>): Answering =>
    async (request) => {
      if (!signOn) return fault('no_provider')
      try {
        return await work(request, signOn)
      } catch (error) {
        if (!(error instanceof SignOnFailure)) throw error
        const cause = error.cause instanceof Error ? error.cause : undefined
        // Name and code only: a message or a stack could have addresses with codes.
        log.warn(
          { fault: error.fault, cause: cause?.name, code: cause && Reflect.get(cause, 'code') },
          'sign-in of a person failed',
        )
        return fault(error.fault)
      }
    }

  async function signInWithPasskey(request: EntranceRequest): Promise<DeskAnswer> {
    const form = await request.form()
    try {
      const { personId } = await passkeys.signIn(readJson(form?.get('answer') ?? ''))
      const next = localPath(form?.get('next') ?? undefined)
      const signedIn = await sessions.signInWithPasskey(personId)
      return 'refused' in signedIn ? fault(signedIn.refused) : entered(signedIn.token, next, 'removed')
    } catch (error) {
      if (error instanceof ApprovalProblem) return signInPage({ ...ways, next: '/', problem: error.message })
      throw error
    }
  }

  const ADDRESSES: Readonly<Record<string, Answering>> = {
    'GET /sign-in': async (request) => signInPage({ ...ways, next: nextOf(request) }),
    'GET /sign-in/oidc': withProvider(leave),
    [`GET ${CALLBACK}`]: withProvider(comeBack),
    'GET /sign-in/passkey': async (request) =>
      passkeys.isAvailable
        ? passkeyPage(await passkeys.signInOptions(), nextOf(request))
        : signInPage({ ...ways, next: '/' }),
    'POST /sign-in/passkey': signInWithPasskey,
    // A link is used by a POST: programs that preview links would use it up.
    'GET /enter': async ({ url }) => linkPage(url.searchParams.get('link') ?? ''),
    'POST /enter': async (request) => {
      const secret = (await request.form())?.get('link') ?? ''
      return entered(await sessions.signInWithLink(secret), '/', 'link_gone')
    },
  }

  return {
    enter: async (request) => {
      const place = `${request.method} ${request.url.pathname}`
      return Object.hasOwn(ADDRESSES, place) ? ADDRESSES[place]?.(request) : undefined
    },
    signedOut: ({ hasCookie, next }) =>
      signInPage({ ...ways, next: localPath(next), status: 401, hasEnded: hasCookie }),
  }
}

const nextOf = ({ url }: EntranceRequest) => localPath(url.searchParams.get('next') ?? undefined)

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ApprovalProblem('answer_malformed')
  }
}
