import { problems } from '@agent-exchange/protocol'
import {
  CSRF_FIELD,
  csrfToken,
  isCsrfToken,
  liveRegion,
  type LiveContent,
  type Notice,
  type RefusedForm,
  type WebAssets,
  localPath,
} from '@agent-exchange/web'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hasRole, requireRole } from '../kernel/operator-roles.ts'
import { Problem } from '../kernel/problem.ts'
import { admit } from '../operator/admit.ts'
import { sendProblem as sendDocument } from '../operator/failures.ts'
import type { Session } from '../operator/sessions.ts'
import { isActivity, isNavigation, notSignedIn } from './browser-request.ts'
import { callApiAs } from './call-api.ts'
import type { ConsoleCookies } from './console-cookies.ts'
import type { ConsoleDependencies } from './console-dependencies.ts'
import type { ConsoleCall, ConsolePage, Flash, PageAnswer, Watch } from './console-page.ts'
import { fieldsOf } from './fields.ts'
import { findPage } from './find-page.ts'
import { flashCookie, readFlash } from './flash-cookie.ts'
import { consolePage } from './layout.ts'
import { liveContent, streamAddress } from './live-content.ts'
import { pages } from './console-pages.ts'
import { fieldErrors, problemContent, problemFlash } from './problem-page.ts'
import { typedValues } from './typed-values.ts'

export interface PageServerParts extends ConsoleDependencies {
  readonly assets: WebAssets
  readonly cookies: ConsoleCookies
}

/** A longer address is not remembered over the sign-in. */
const MAXIMUM_NEXT_CHARACTERS = 2_000
const BASE = 'http://console.invalid'
/** Sessions of requests under way. */
const sessionOf = new WeakMap<FastifyRequest, Session>()
/** Id of the live region of a page. */
const LIVE_REGION = 'live'
/** Status codes after which the form is shown again with a message and what was typed; others get a page of their own. */
const SHOWN_ON_FORM = new Set([400, 404, 409, 410, 422])

/** Runs pages: session, CSRF token, role, then the page; a problem becomes a page, too. */
export function createPageServer({ operator, sessions, key, assets, cookies }: PageServerParts) {
  /** Before the body is read. */
  async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const session = await sessions.find(cookies.read(request, 'session'), {
      isActivity: isActivity(request),
    })
    if (!session) {
      if (!isNavigation(request)) throw notSignedIn(request, operator.context)
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
    const body = typeof request.body === 'string' ? request.body : ''
    const form = fieldsOf(body)
    if (page.method === 'POST' && !isCsrfToken(key, session.sessionId, form.get(CSRF_FIELD)))
      throw new Problem('not_permitted', { csrf_token: 'not_valid' })
    requireRole(session.operator, page.role)
    const params = request.params as Record<string, string>
    const place = { address: addressOf(request), params }
    try {
      return await page.handle(callOf(place, session, { form, flash: flashOf(request) }))
    } catch (error) {
      const back = page.method === 'POST' ? pathOf(request.headers.referer) : undefined
      if (!(error instanceof Problem) || back === undefined) throw error
      if (!SHOWN_ON_FORM.has(problems[error.code].status)) throw error
      const refused: RefusedForm = {
        action: place.address.pathname,
        values: typedValues(body),
        errors: fieldErrors(error, form),
      }
      return showAgain(back, session, { problem: error, flash: problemFlash(error, form), refused })
    }
  }

  /** The page that the refused form was on, with what was typed. */
  async function showAgain(
    back: string,
    session: Session,
    { problem, flash, refused }: { problem: Problem; flash: Flash; refused: RefusedForm },
  ): Promise<PageAnswer> {
    const address = new URL(back, BASE)
    const found = findPage(pages, address.pathname)
    if (!found || !hasRole(session.operator, found.page.role)) return { status: 303, location: back, flash }
    const place = { address, params: found.params }
    const { status } = problems[problem.code]
    const answer = await found.page.handle(
      callOf(place, session, { form: fieldsOf(''), flash: [flash], refused, address: back }),
    )
    return { ...answer, status }
  }

  function callOf({ address, params }: Place, session: Session, given: CallParts): ConsoleCall {
    const { form, flash, refused, address: shownAddress } = given
    const viewer = viewerOf(session)
    return {
      operator: session.operator,
      params,
      query: fieldsOf(address.search),
      form,
      now: new Date(operator.context.clock.now()),
      formState: { csrfToken: viewer.csrfToken, refused },
      api: callApiAs(session.operator, operator),
      show: ({ status = 200, ...content }) => ({
        status,
        html: consolePage(assets, address.pathname, viewer, {
          ...content,
          flash,
          ...(shownAddress !== undefined && { address: shownAddress }),
        }),
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
    if (!session && !isNavigation(request)) return sendDocument(reply, problem, operator.context, request.id)
    const content = problemContent(problem, request.id)
    const viewer = session && viewerOf(session)
    const wait = problem.details['retry_after_seconds']
    if (typeof wait === 'number') reply.header('retry-after', String(wait))
    return send(request, reply, {
      status: problems[problem.code].status,
      html: consolePage(assets, pathnameOf(request), viewer, content),
    })
  }

  return { authenticate, mount, watched, send, sendProblem }
}

/** A page of the console, as an address names it. */
interface Place {
  readonly address: URL
  readonly params: Readonly<Record<string, string>>
}

interface CallParts {
  readonly form: ConsoleCall['form']
  readonly flash: readonly Notice[]
  readonly refused?: RefusedForm
  /** Of the page, where it is not the address of the request. */
  readonly address?: string
}

/** The page that a form was on. */
function pathOf(referer: string | undefined): string | undefined {
  const url = referer === undefined ? null : URL.parse(referer)
  return url === null ? undefined : localPath(`${url.pathname}${url.search}`)
}

function addressOf({ url }: FastifyRequest): URL {
  return new URL(url, BASE)
}

function pathnameOf({ url }: FastifyRequest): string {
  return url.split('?')[0] ?? '/'
}
