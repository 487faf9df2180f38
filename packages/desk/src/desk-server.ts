import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ExchangeError } from '@agent-exchange/sdk'
import { publishDeskAddress } from '@agent-exchange/sdk/internal/node'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import {
  cookieHeader,
  createLiveStreams,
  CSRF_FIELD,
  EVENT_STREAM_HEADERS,
  loopbackOrigins,
  originFault,
  readCookie,
  readWebAssets,
  securityHeaders,
} from '@agent-exchange/web'
import { DONE, type DeskAnswer, type DoneCode } from './desk-call.ts'
import { deskChanges, EVENTS_PATH } from './desk-changes.ts'
import {
  CHANGES_POLL_MS,
  MAXIMUM_CONNECTIONS,
  MAXIMUM_LIVE_PAGES,
  REQUEST_TIMEOUT_MS,
  SESSION_VALID_MS,
} from './desk-limits.ts'
import { createDeskPages } from './desk-pages.ts'
import { routeOf } from './desk-routes.ts'
import { createDeskSessions } from './desk-sessions.ts'
import { deskStyle } from './desk-style.ts'
import { folderDeskAgent } from './folder-desk-agent.ts'
import { readForm } from './form-body.ts'
import { createStoryReader } from './story-reader.ts'
import { createPassphraseTries } from './passphrase-tries.ts'

const LOOPBACK = '127.0.0.1'

export interface Desk extends AsyncDisposable {
  readonly port: number
  /** A link that signs one browser in, once. */
  newLink(): string
}

export interface DeskOptions {
  readonly port: number
  readonly now?: () => Date
  /** Called for an unexpected failure, without content. */
  readonly onFailure?: (failure: string) => void
}

/** Another process has the port, or this one may not listen on it. */
export class DeskPortUnusable extends Error {}

/** Serves the desk of an agent's folder to one person on this machine. */
export async function startDesk(folderAgent: FolderAgent, options: DeskOptions): Promise<Desk> {
  const agent = folderDeskAgent(folderAgent)
  const stories = createStoryReader(agent)
  const { now = () => new Date(), onFailure = () => undefined } = options
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      onFailure(failureText(error))
      if (!response.headersSent)
        send(
          response,
          pages.failure(500, 'Something went wrong', 'The desk failed. Its terminal says where.'),
        )
      else response.destroy()
    })
  })
  server.maxConnections = MAXIMUM_CONNECTIONS
  server.listen(options.port, LOOPBACK)
  await once(server, 'listening').catch(() => {
    throw new DeskPortUnusable(`Port ${options.port} of ${LOOPBACK} cannot be used.`)
  })
  const { port } = server.address() as AddressInfo
  const origins = loopbackOrigins(port)
  // Cookies ignore ports, so each desk on this machine has a name of its own.
  const cookie = `aex-desk-${port}`
  const sessions = createDeskSessions(() => now().getTime())
  const tries = createPassphraseTries(() => now().getTime(), isWrongPassphrase)
  const assets = readWebAssets()
  const style = deskStyle()
  const files = new Map([...Object.values(assets), style].map((asset) => [`/assets/${asset.name}`, asset]))
  const pages = createDeskPages({ agent, assets, style: `/assets/${style.name}` })

  const live = createLiveStreams({
    onFailure: (error) => onFailure(failureText(error)),
    pollMs: CHANGES_POLL_MS,
    maximumStreams: MAXIMUM_LIVE_PAGES,
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(securityHeaders({ tls: false })))
      response.setHeader(name, value)
    const fault = originFault(request, origins)
    if (fault)
      return void response.writeHead(403, { 'content-type': 'text/plain' }).end(`refused: ${fault}\n`)
    const target = URL.parse(request.url ?? '/', `http://${LOOPBACK}:${port}`)
    if (!target) return send(response, pages.failure(400, 'Refused', 'The address cannot be read.'))
    const { pathname, searchParams } = target
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
    const file = method === 'GET' ? files.get(pathname) : undefined
    if (file) {
      response.writeHead(200, { 'content-type': file.mediaType, 'cache-control': file.cacheControl })
      return void response.end(file.body)
    }
    if (request.method === 'GET' && pathname === '/enter')
      return enter(response, searchParams.get('link') ?? '')
    const session = readCookie(request.headers.cookie, cookie)
    if (!sessions.isValid(session)) return send(response, pages.signedOut(session !== undefined))
    if (request.method === 'GET' && pathname === EVENTS_PATH)
      return stream(response, searchParams.get('seen'))
    const route = routeOf(method, pathname)
    if (route === undefined)
      return send(response, pages.failure(404, 'Not found', 'The desk has no such page.'))
    if (route === 'wrong_method')
      return send(response, pages.failure(405, 'Not allowed', 'This address is not used in this way.'))
    const fields = method === 'POST' ? await readForm(request) : new URLSearchParams()
    if (!fields)
      return send(
        response,
        pages.failure(413, 'Refused', 'The form is too large, or the body is not a form.'),
      )
    if (method === 'POST' && !sessions.isCsrfToken(session, fields.get(CSRF_FIELD)))
      return send(
        response,
        pages.failure(403, 'Refused', 'The form is not one of this desk. Load the page again.'),
      )
    const call = {
      agent,
      id: route.id,
      fields,
      csrfToken: sessions.csrfToken(session),
      now: now(),
      tries,
      stories,
    }
    const made = await route.handle(call).catch((error: unknown) => {
      if (error instanceof ExchangeError) return pages.problem(error)
      throw error
    })
    send(response, made, searchParams.get('done'))
  }

  function enter(response: ServerResponse, secret: string): void {
    const entered = sessions.enter(secret)
    if ('fault' in entered) return send(response, pages.staleLink(entered.fault))
    const maxAgeSeconds = SESSION_VALID_MS / 1_000
    response.setHeader(
      'set-cookie',
      cookieHeader({ name: cookie, value: entered.session, tls: false, sameSite: 'Strict', maxAgeSeconds }),
    )
    response.writeHead(303, { location: '/' }).end()
  }

  function stream(response: ServerResponse, seen: string | null): void {
    // Browsers do not reconnect after this status. The page works without updates.
    if (!live.hasRoom) return void response.writeHead(503).end()
    response.writeHead(200, EVENT_STREAM_HEADERS)
    live.add(response, deskChanges(agent, seen))
  }

  function send(response: ServerResponse, made: DeskAnswer, done?: string | null): void {
    if (made.kind === 'redirect')
      return void response.writeHead(303, { location: withDone(made.to, made.done) }).end()
    if (made.kind === 'file') {
      const disposition = `attachment; filename="${made.name}"`
      response.writeHead(200, { 'content-type': made.mediaType, 'content-disposition': disposition })
      return void response.end(made.body)
    }
    const notices = isDone(done) ? [DONE[done]] : []
    response.writeHead(made.status ?? 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(pages.text({ ...made, flash: [...notices, ...(made.flash ?? [])] }))
  }

  const published = await publishDeskAddress(folderAgent.folder.files.desk, port).catch((error: unknown) => {
    server.close()
    throw error
  })
  return {
    port,
    newLink: () => `http://${LOOPBACK}:${port}/enter?link=${sessions.newLink()}`,
    async [Symbol.asyncDispose]() {
      await published[Symbol.asyncDispose]()
      live.close()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function isWrongPassphrase(error: unknown): boolean {
  return error instanceof ExchangeError && error.code === 'approver_locked'
}

function isDone(code: string | null | undefined): code is DoneCode {
  return typeof code === 'string' && Object.hasOwn(DONE, code)
}

function withDone(address: string, done: DoneCode | undefined): string {
  return done === undefined ? address : `${address}?done=${done}`
}

/** Name and places of an error: its message might quote content. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown failure'
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /u.test(line))
  return [error.name, ...frames.slice(0, 8)].join('\n')
}
