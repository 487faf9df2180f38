import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** Changes the text of a response to a path. Undefined: a 502 instead. */
export type Alter = (path: string, text: string) => string | undefined

export interface MeddlingProxy extends AsyncDisposable {
  readonly url: string
}

const HOP_BY_HOP = new Set(['connection', 'proxy-connection', 'transfer-encoding', 'content-length', 'host'])

/** A man in the middle that forwards every request and changes responses. */
export async function startMeddlingProxy(alter: Alter): Promise<MeddlingProxy> {
  const server = createServer((request, response) => {
    pass(request, response, alter).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => close(server) }
}

async function pass(request: IncomingMessage, response: ServerResponse, alter: Alter): Promise<void> {
  // RFC 9112 section 3.2.2: a proxy receives the absolute form.
  const target = new URL(request.url ?? '')
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === 'string' && !HOP_BY_HOP.has(name)) headers.set(name, value)
  }
  const body = request.method === 'GET' ? {} : { body: new Uint8Array(await buffer(request)) }
  const answer = await fetch(target, { method: request.method ?? 'GET', headers, ...body })
  const text = alter(target.pathname, await answer.text())
  if (text === undefined) return void response.writeHead(502).end()
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text)
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}
