import { problems } from '@agent-exchange/protocol'
import {
  CSRF_FIELD,
  csrfToken,
  isCsrfToken,
  liveRegion,
  type LiveContent,
  type Notice,
  type WebAssets,
} from '@agent-exchange/web'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requireRole } from '../kernel/operator-roles.ts'
import { Problem } from '../kernel/problem.ts'
import { admit } from '../operator/admit.ts'
import type { Session } from '../operator/sessions.ts'
import { callApiAs } from './call-api.ts'
import type { ConsoleCookies } from './console-cookies.ts'
import type { ConsoleDependencies } from './console-dependencies.ts'
import type { ConsoleCall, ConsolePage, Flash, PageAnswer, Watch } from './console-page.ts'
import { localPath } from './console-origins.ts'
import { fieldsOf } from './fields.ts'
import { flashCookie, readFlash } from './flash-cookie.ts'
import { consolePage } from './layout.ts'
import { liveContent, streamAddress } from './live-content.ts'
import { problemContent, problemFlash } from './problem-page.ts'

export interface PageServerParts extends ConsoleDependencies {
  readonly assets: WebAssets
  readonly cookies: ConsoleCookies
}

/** A longer address is not remembered over the sign-in. */
const MAXIMUM_NEXT_CHARACTERS = 2_000
/** Sessions of requests under way. */
const sessionOf = new WeakMap<FastifyRequest, Session>()
/** Id of the live region of a page. */
const LIVE_REGION = 'live'
/** Status codes after which the form is shown again with a message; others get a page of their own. */
const SHOWN_ON_FORM = new Set([400, 404, 409, 410, 422])

/** Runs pages: session, CSRF token, role, then the page; a problem becomes a page, too. */
export function createPageServer({ operator, sessions, key, assets, cookies }: PageServerParts) {
  /** Before the body is read. */
  async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const session = await sessions.find(cookies.read(request, 'session'), {
      isActivity: isNavigation(request),
    })
    if (!session) {
      const { method, url } = request
      const isPlace = method === 'GET' && url !== '/' && url.length <= MAXIMUM_NEXT_CHARACTERS
      const next = isPlace ? `?next=${encodeURIComponent(url)}` : ''
      return reply.redirect(`/sign-in${next}`, 303)
    }
    sessionOf.set(request, session)
    return admit(session.operator, request, reply, operator)
  }

  function mount(app: FastifyInstance, page: ConsolePage): void {
    app.route({
      method: page.method,
      url: page.path,
      onRequest: authenticate,
      handler: async (request, reply) => send(request, reply, await run(page, request)),
    })
  }

  async function run(page: ConsolePage, request: FastifyRequest): Promise<PageAnswer> {
    const session = sessionOf.get(request)
    if (!session) throw new Problem('access_token_missing')
    const form = fieldsOf(typeof request.body === 'string' ? request.body : '')
    if (page.method === 'POST' && !isCsrfToken(key, session.sessionId, form.get(CSRF_FIELD)))
      throw new Problem('not_permitted', { csrf_token: 'not_valid' })
    requireRole(session.operator, page.role)
    try {
      return await page.handle(callOf(request, session, form))
    } catch (error) {
      const back = page.method === 'POST' ? pathOf(request.headers.referer) : undefined
      if (!(error instanceof Problem) || back === undefined) throw error
      if (!SHOWN_ON_FORM.has(problems[error.code].status)) throw error
      return { status: 303, location: back, flash: problemFlash(error) }
    }
  }

  function callOf(request: FastifyRequest, session: Session, form: ConsoleCall['form']): ConsoleCall {
    const address = addressOf(request)
    const viewer = viewerOf(session)
    const flash = flashOf(request)
    return {
      operator: session.operator,
      params: request.params as Record<string, string>,
      query: fieldsOf(address.search),
      form,
      now: new Date(operator.context.clock.now()),
      csrfToken: viewer.csrfToken,
      api: callApiAs(session.operator, operator),
      show: ({ status = 200, ...content }) => ({
        status,
        html: consolePage(assets, pathnameOf(request), viewer, { ...content, flash }),
      }),
      live: (shown, content) =>
        liveRegion({ id: LIVE_REGION, stream: streamAddress(address, shown), content }),
      redirect: (path, message) => ({
        status: 303,
        location: localPath(path),
        ...(message && { flash: message }),
      }),
    }
  }

  /** For the event stream of a live page, which ends with its session. */
  function watched(watch: Watch, request: FastifyRequest): LiveContent {
    const params = request.params as Record<string, string>
    const content = liveContent(watch, { address: addressOf(request), params }, operator)
    const token = cookies.read(request, 'session')
    const isPermitted = async () => (await sessions.find(token, { isActivity: false })) !== undefined
    return { ...content, isPermitted }
  }

  function viewerOf({ operator: viewer, sessionId }: Session) {
    return { operator: viewer, csrfToken: csrfToken(key, sessionId) }
  }

  function flashOf(request: FastifyRequest): readonly Notice[] {
    const flash: Flash | undefined = readFlash(key, cookies.read(request, 'flash'))
    return flash ? [flash] : []
  }

  function send(request: FastifyRequest, reply: FastifyReply, answer: PageAnswer): FastifyReply {
    if (answer.flash) cookies.set(reply, 'flash', flashCookie(key, answer.flash))
    else if (cookies.read(request, 'flash') !== undefined) cookies.clear(reply, 'flash')
    reply.code(answer.status)
    if (answer.location !== undefined) return reply.header('location', answer.location).send()
    return reply.type('text/html; charset=utf-8').send(String(answer.html))
  }

  function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
    const session = sessionOf.get(request)
    const content = problemContent(problem, request.id)
    const viewer = session && viewerOf(session)
    const wait = problem.details['retry_after_seconds']
    if (typeof wait === 'number') reply.header('retry-after', String(wait))
    return send(request, reply, {
      status: problems[problem.code].status,
      html: consolePage(assets, pathnameOf(request), viewer, content),
    })
  }

  return { authenticate, mount, watched, send, sendProblem, flashOf, callOf }
}

/** A page that the script of a live region fetches is no sign of a person. Old browsers send no such header. */
function isNavigation({ headers }: FastifyRequest): boolean {
  const mode = headers['sec-fetch-mode']
  return mode === undefined || mode === 'navigate'
}

/** The page that a form was on. */
function pathOf(referer: string | undefined): string | undefined {
  const url = referer === undefined ? null : URL.parse(referer)
  return url === null ? undefined : localPath(`${url.pathname}${url.search}`)
}

function addressOf({ url }: FastifyRequest): URL {
  return new URL(url, 'http://console.invalid')
}

function pathnameOf({ url }: FastifyRequest): string {
  return url.split('?')[0] ?? '/'
}
