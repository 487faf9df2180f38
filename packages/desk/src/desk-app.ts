import type { IncomingMessage, ServerResponse } from 'node:http'
import { ExchangeError } from '@agent-exchange/sdk'
import {
  cookieName,
  createLiveStreams,
  CSRF_FIELD,
  csrfToken,
  EVENT_STREAM_HEADERS,
  isCsrfToken,
  originFault,
  readCookie,
  readWebAssets,
  securityHeaders,
  type WebAsset,
} from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'
import type { DeskAnswer, HostCall } from './desk-call.ts'
import { deskChanges, EVENTS_PATH } from './desk-changes.ts'
import type { DeskHost } from './desk-host.ts'
import type { DeskSession } from './desk-session.ts'
import { CHANGES_POLL_MS, MAXIMUM_LIVE_PAGES } from './desk-limits.ts'
import { DeskRefusal } from './desk-refusal.ts'
import { createDeskPages, type FrameState } from './desk-pages.ts'
import { hasOneOf } from './desk-person.ts'
import { AGENT_ROUTES, routeOf } from './desk-routes.ts'
import { deskScript } from './desk-script.ts'
import { deskStyle } from './desk-style.ts'
import { readForm } from './form-body.ts'
import { createPassphraseTries } from './passphrase-tries.ts'
import { writeAnswer } from './write-answer.ts'
import { createStoryReader, type StoryReader } from './story-reader.ts'

export interface DeskAppOptions {
  readonly now?: () => Date
  /** Called for an unexpected failure, without content. */
  readonly onFailure?: (failure: string) => void
  readonly maximumLivePages?: number
  /** Own files of the host, such as a script of its pages. */
  readonly files?: readonly WebAsset[]
}

export interface DeskApp extends Disposable {
  /** Answers every request; never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
}

/** The pages of a desk, for any listener. */
export function createDeskApp(host: DeskHost, options: DeskAppOptions = {}): DeskApp {
  const { now = () => new Date(), onFailure = () => undefined, files: hostFiles = [] } = options
  const tries = createPassphraseTries(() => now().getTime(), isWrongPassphrase)
  const assets = readWebAssets()
  const [style, script] = [deskStyle(), deskScript()]
  const files = new Map(
    [...Object.values(assets), style, script, ...hostFiles].map((asset) => [`/assets/${asset.name}`, asset]),
  )
  const pages = createDeskPages({
    host,
    assets,
    style: `/assets/${style.name}`,
    script: `/assets/${script.name}`,
  })
  const readers = new WeakMap<DeskAgent, StoryReader>()
  const live = createLiveStreams({
    onFailure: (error) => onFailure(failureText(error)),
    pollMs: CHANGES_POLL_MS,
    maximumStreams: options.maximumLivePages ?? MAXIMUM_LIVE_PAGES,
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(securityHeaders({ tls: host.cookie.tls })))
      response.setHeader(name, value)
    const fault = originFault(request, host.origins)
    if (fault)
      return void response.writeHead(403, { 'content-type': 'text/plain' }).end(`refused: ${fault}\n`)
    const url = URL.parse(request.url ?? '/', host.origins.origins[0])
    if (!url) return send(response, pages.failure(400, 'Refused', 'The address cannot be read.'))
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
    const file = method === 'GET' ? files.get(url.pathname) : undefined
    if (file) {
      response.writeHead(200, { 'content-type': file.mediaType, 'cache-control': file.cacheControl })
      return void response.end(file.body)
    }
    const { headers } = request
    const entered = await host.enter({
      method: request.method ?? '',
      url,
      headers,
      form: () => readForm(request),
    })
    if (entered) return send(response, entered)
    const isStream = request.method === 'GET' && url.pathname === EVENTS_PATH
    const cookie = readCookie(headers.cookie, cookieName(host.cookie.name, host.cookie.tls))
    const session = await host.sessions.find(cookie, { isActivity: !isStream })
    if (!session) {
      const next = method === 'GET' ? `${url.pathname}${url.search}` : '/'
      return send(response, host.signedOut({ hasCookie: cookie !== undefined, next }))
    }
    const agents = host.agents(session)
    const agent = agents.find(({ identity }) => identity.agentId === session.agentId) ?? agents[0]
    const frame = { person: session.person, csrfToken: tokenOf(session, agent), agent }
    if (isStream) {
      // A stream does not outlive its session.
      const isPermitted = async () => (await host.sessions.find(cookie, { isActivity: false })) !== undefined
      return stream(response, agent, { seen: url.searchParams.get('seen'), isPermitted })
    }
    send(response, await pageFor(request, { method, url, session, agent, frame }), {
      frame,
      done: url.searchParams.get('done'),
    })
  }

  async function pageFor(
    request: IncomingMessage,
    { method, url, session, agent, frame }: SignedIn,
  ): Promise<DeskAnswer> {
    const found = routeOf([...AGENT_ROUTES, ...host.routes], method, url.pathname)
    if (found === undefined) return pages.failure(404, 'Not found', 'The desk has no such page.')
    if (found === 'wrong_method')
      return pages.failure(405, 'Not allowed', 'This address is not used in this way.')
    const { id } = found
    const { person } = session
    if (!hasOneOf(person, found.route.roles)) return pages.notPermitted(found.route.roles)
    const fields = method === 'POST' ? await readForm(request) : new URLSearchParams()
    if (!fields) return pages.failure(413, 'Refused', 'The form is too large, or the body is not a form.')
    if (method === 'POST' && !isCsrfToken(host.csrfKey, boundTo(session, agent), fields.get(CSRF_FIELD)))
      return pages.failure(403, 'Refused', 'The form is not one of this desk. Load the page again.')
    const query = method === 'GET' ? url.searchParams : new URLSearchParams()
    const call: HostCall = { person, session, id, fields, query, csrfToken: frame.csrfToken, now: now() }
    try {
      // The two lists are told apart here, so that only pages of agents need one.
      const ofAgent = AGENT_ROUTES.find((each) => each === found.route)
      if (!ofAgent) return await (found.route as (typeof host.routes)[number]).handle(call)
      if (!agent) return host.withoutAgents
      return await ofAgent.handle({ ...call, agent, tries, stories: readerFor(agent) })
    } catch (error) {
      if (error instanceof ExchangeError) return pages.problem(error)
      if (error instanceof DeskRefusal) return pages.failure(409, 'This did not work', error.message)
      throw error
    }
  }

  function readerFor(agent: DeskAgent): StoryReader {
    const known = readers.get(agent)
    if (known) return known
    const made = createStoryReader(agent)
    readers.set(agent, made)
    return made
  }

  const tokenOf = (session: DeskSession, agent: DeskAgent | undefined) =>
    csrfToken(host.csrfKey, boundTo(session, agent))

  function stream(
    response: ServerResponse,
    agent: DeskAgent | undefined,
    { seen, isPermitted }: { readonly seen: string | null; readonly isPermitted: () => Promise<boolean> },
  ): void {
    // Browsers do not reconnect after this status. The page works without updates.
    if (!live.hasRoom || !agent) return void response.writeHead(503).end()
    response.writeHead(200, EVENT_STREAM_HEADERS)
    live.add(response, deskChanges(agent, seen, isPermitted))
  }

  const send = (
    response: ServerResponse,
    made: DeskAnswer,
    { frame, done }: { readonly frame?: FrameState; readonly done?: string | null } = {},
  ) => writeAnswer(response, made, { done, text: (content) => pages.text(content, frame) })

  return {
    handle: (request, response) =>
      answer(request, response).catch((error: unknown) => {
        onFailure(failureText(error))
        if (response.headersSent) response.destroy()
        else
          send(response, pages.failure(500, 'Something went wrong', 'The desk failed. Its log says where.'))
      }),
    [Symbol.dispose]: () => live.close(),
  }
}

interface SignedIn {
  readonly method: string
  readonly url: URL
  readonly session: DeskSession
  readonly agent: DeskAgent | undefined
  readonly frame: FrameState
}

/** A form of a page about one agent is refused after the person switched to another one. */
const boundTo = ({ id }: DeskSession, agent: DeskAgent | undefined) =>
  `${id} ${agent?.identity.agentId ?? ''}`

function isWrongPassphrase(error: unknown): boolean {
  return error instanceof ExchangeError && error.code === 'approver_locked'
}

/** Name and places of an error: its message might quote content. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown failure'
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /u.test(line))
  return [error.name, ...frames.slice(0, 8)].join('\n')
}
