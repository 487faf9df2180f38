import type * as OpenIdClient from 'openid-client'
import type { SignOnConfig } from './sign-on-settings.ts'
import type { RoleMapping } from './role-mapping.ts'

/** Why nobody was signed in. */
export type SignOnFault = 'provider_unavailable' | 'refused_by_provider' | 'answer_invalid' | 'no_role'

export class SignOnFailure extends Error {
  override readonly name = 'SignOnFailure'
  readonly fault: SignOnFault

  constructor(fault: SignOnFault, options?: ErrorOptions) {
    super(fault, options)
    this.fault = fault
  }
}

/** What the browser keeps between the two redirects. */
export interface SignOnChecks {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** Whom the provider signed in. */
export interface SignedOn<Role extends string> {
  /** Only the provider can change it, and it never gives it to somebody else. */
  readonly subject: string
  /** Verified by the provider. */
  readonly email?: string
  /** What the person is called. The provider may let people choose it. */
  readonly displayName?: string
  /** Those of all groups. */
  readonly roles: readonly [Role, ...Role[]]
}

export interface SingleSignOn<Role extends string> {
  readonly issuer: string
  /** Where to send the browser. `asksAgain`: the provider asks the person, whatever session it has. */
  start(
    redirectUri: string,
    options?: { readonly asksAgain?: boolean },
  ): Promise<{ readonly url: string; readonly checks: SignOnChecks }>
  /**
   * `answer` is the address that the provider sent the browser to. `maximumAgeSeconds`: the ID token has to say that
   * the provider asked the person within this time (`auth_time`).
   */
  finish(
    answer: URL,
    checks: SignOnChecks,
    options?: { readonly maximumAgeSeconds?: number },
  ): Promise<SignedOn<Role>>
}

const SCOPE = 'openid email profile'
const TIMEOUT_SECONDS = 10
/** The metadata of the provider is read again after this time. */
const METADATA_MS = 3_600_000

/** OpenID Connect: authorization code with PKCE, state and nonce; the signature of the ID token is verified. */
export function createSingleSignOn<Role extends string>(
  { issuer, clientId, clientSecret, roles }: SignOnConfig<Role>,
  monotonicMilliseconds: () => number,
): SingleSignOn<Role> {
  let known: { readonly configuration: Promise<OpenIdClient.Configuration>; readonly at: number } | undefined

  /** One discovery at a time; a failed one is tried again with the next sign-in. */
  function configured(): Promise<OpenIdClient.Configuration> {
    if (known && monotonicMilliseconds() - known.at < METADATA_MS) return known.configuration
    const configuration = discover()
    known = { configuration, at: monotonicMilliseconds() }
    configuration.catch(() => (known = undefined))
    return configuration
  }

  async function discover(): Promise<OpenIdClient.Configuration> {
    const oidc = await loadClient()
    const { allowInsecureRequests, enableNonRepudiationChecks } = oidc
    const authentication = clientSecret === undefined ? oidc.None() : undefined
    // Plain http passes the check of the setting for loopback only.
    const execute = issuer.startsWith('http:')
      ? [allowInsecureRequests, enableNonRepudiationChecks]
      : [enableNonRepudiationChecks]
    try {
      return await oidc.discovery(new URL(issuer), clientId, clientSecret, authentication, {
        execute,
        timeout: TIMEOUT_SECONDS,
      })
    } catch (error) {
      throw new SignOnFailure('provider_unavailable', { cause: error })
    }
  }

  return {
    issuer,

    async start(redirectUri, { asksAgain = false } = {}) {
      const [oidc, configuration] = await Promise.all([loadClient(), configured()])
      const checks = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      }
      const url = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
        // OpenID Connect Core 1.0, section 3.1.2.1: with `max_age`, the ID token has `auth_time`.
        ...(asksAgain && { prompt: 'login', max_age: '0' }),
      })
      return { url: url.href, checks }
    },

    async finish(answer, { state, nonce, verifier }, { maximumAgeSeconds } = {}) {
      const [oidc, configuration] = await Promise.all([loadClient(), configured()])
      try {
        const tokens = await oidc.authorizationCodeGrant(configuration, answer, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
          ...(maximumAgeSeconds !== undefined && { maxAge: maximumAgeSeconds }),
        })
        const claims: Claims = tokens.claims() ?? {}
        const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined
        const isMissing = claimAt(claims, roles.claim) === undefined
        const more: Claims =
          isMissing && hasUserInfo
            ? await oidc.fetchUserInfo(configuration, tokens.access_token, String(claims['sub']))
            : {}
        return signedOnAs({ ...more, ...claims }, roles)
      } catch (error) {
        throw toFailure(error, oidc)
      }
    },
  }
}

/** Loaded on first use: most installations have no identity provider. */
const loadClient = () => import('openid-client')

type Claims = Readonly<Record<string, unknown>>

function signedOnAs<Role extends string>(
  claims: Claims,
  { claim, groups }: RoleMapping<Role>,
): SignedOn<Role> {
  const given = claimAt(claims, claim)
  const member = new Set(Array.isArray(given) ? given : [given])
  const found = groups.filter(({ group }) => group === '*' || member.has(group)).map(({ role }) => role)
  const [first, ...others] = new Set(found)
  if (first === undefined) throw new SignOnFailure('no_role')
  const { sub, email, email_verified: isVerified, name } = claims
  if (typeof sub !== 'string' || sub === '') throw new SignOnFailure('answer_invalid')
  return {
    subject: sub,
    roles: [first, ...others],
    ...(isVerified === true && typeof email === 'string' && { email }),
    ...(typeof name === 'string' && name.trim() !== '' && { displayName: name.trim() }),
  }
}

/** `realm_access.roles` is a member of a member. Own members only. */
function claimAt(claims: Claims, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    return isObject ? (value as Claims)[name] : undefined
  }, claims)
}

function toFailure(error: unknown, oidc: typeof OpenIdClient): SignOnFailure {
  if (error instanceof SignOnFailure) return error
  if (error instanceof oidc.AuthorizationResponseError)
    return new SignOnFailure('refused_by_provider', { cause: error })
  const isUnreachable = error instanceof TypeError || (error as { code?: unknown }).code === 'OAUTH_TIMEOUT'
  return new SignOnFailure(isUnreachable ? 'provider_unavailable' : 'answer_invalid', { cause: error })
}
