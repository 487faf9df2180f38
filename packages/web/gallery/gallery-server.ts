import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  cookieHeader,
  createEventStream,
  CSRF_FIELD,
  csrfToken,
  EVENT_STREAM_HEADERS,
  isCsrfToken,
  loopbackOrigins,
  originFault,
  readCookie,
  readWebAssets,
  securityHeaders,
  type Notice,
  type Site,
} from '@agent-exchange/web'
import { galleryPage } from './gallery-page.ts'

const MAXIMUM_BODY_BYTES = 16 * 1024
const TICK_MS = 500

export interface Gallery extends AsyncDisposable {
  readonly address: string
  readonly port: number
}

/** A small server with the whole protection of a real one, on loopback alone. */
export async function startGallery(port = 0): Promise<Gallery> {
  const server = createServer((request, response) => void answer(request, response))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const bound = (server.address() as AddressInfo).port
  const assets = readWebAssets()
  const files = new Map(Object.values(assets).map((asset) => [`/assets/${asset.name}`, asset]))
  const key = randomBytes(32)
  const session = `gallery-${bound}`
  let ticks = 0
  const site: Site = {
    name: 'Agent Exchange',
    language: 'en',
    home: './',
    assetFolder: './assets/',
    assets,
    navigation: [
      'Overview',
      'Packages',
      'Deliveries',
      'Organizations',
      'Skills',
      'Keys',
      'Operators',
      'Log',
    ].map((text, index) => ({
      href: index === 1 ? './' : `#${text.toLowerCase()}`,
      text,
      isCurrent: index === 1,
    })),
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', `http://127.0.0.1:${bound}`)
    for (const [name, value] of Object.entries(securityHeaders({ tls: false })))
      response.setHeader(name, value)
    const fault = originFault(request, loopbackOrigins(bound))
    if (fault) return refuse(response, fault)
    const file = files.get(pathname)
    if (file) {
      response.writeHead(200, { 'content-type': file.mediaType, 'cache-control': file.cacheControl })
      response.end(file.body)
    } else if (pathname === '/events') stream(response)
    else if (request.method === 'POST') await change(request, response)
    else if (pathname === '/') show(request, response, searchParams)
    else response.writeHead(404).end()
  }

  function show(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): void {
    const id = readCookie(request.headers.cookie, session) ?? randomBytes(16).toString('base64url')
    response.setHeader(
      'set-cookie',
      cookieHeader({ name: session, value: id, tls: false, sameSite: 'Strict' }),
    )
    const done = query.has('done')
    const flash: Notice[] = done ? [{ tone: 'good', title: 'The organization was created.' }] : []
    const error = query.has('error') ? { nameError: 'Another organization has this name.' } : {}
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(String(galleryPage({ site, csrfToken: csrfToken(key, id), flash, ticks, ...error })))
  }

  async function change(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of request as AsyncIterable<Buffer>) {
      if ((size += chunk.byteLength) > MAXIMUM_BODY_BYTES) return refuse(response, 'body_too_large')
      chunks.push(chunk)
    }
    const fields = new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
    const id = readCookie(request.headers.cookie, session)
    if (id === undefined || !isCsrfToken(key, id, fields.get(CSRF_FIELD)))
      return refuse(response, 'csrf_token')
    response.writeHead(303, { location: fields.get('name') === 'taken' ? './?error' : './?done' }).end()
  }

  function stream(response: ServerResponse): void {
    response.writeHead(200, EVENT_STREAM_HEADERS)
    const events = createEventStream(response)
    const timer = setInterval(() => {
      ticks += 1
      if (!events.send({ event: 'changed', data: String(ticks) })) clearInterval(timer)
    }, TICK_MS)
    response.once('close', () => clearInterval(timer))
  }

  return {
    address: `http://127.0.0.1:${bound}/`,
    port: bound,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function refuse(response: ServerResponse, why: string): void {
  response.writeHead(403, { 'content-type': 'text/plain; charset=utf-8' }).end(`refused: ${why}\n`)
}
