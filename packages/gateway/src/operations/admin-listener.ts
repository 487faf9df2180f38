import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import type { Registry } from 'prom-client'
import { createListener, type ListenerOptions } from '../listeners/create-listener.ts'

export interface AdminListenerOptions extends ListenerOptions {
  readonly host: string
  readonly port: number
  readonly isReady: () => boolean
  readonly metrics: Registry
}

/** Health, readiness and metrics. They hold no data of the company and need no token. */
export async function listenForAdministration(options: AdminListenerOptions): Promise<Server> {
  const { host, port, isReady, metrics } = options
  const answer: RequestListener = (request, response) => {
    const reply = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
    const json = (status: number, text: string) => reply(status, 'application/json', `{"status":"${text}"}`)
    if (request.method !== 'GET' && request.method !== 'HEAD') return json(405, 'method_not_allowed')
    if (request.url === '/healthz') return json(200, 'ok')
    if (request.url === '/readyz') return isReady() ? json(200, 'ready') : json(503, 'not_ready')
    if (request.url !== '/metrics') return json(404, 'not_found')
    metrics.metrics().then(
      (text) => reply(200, metrics.contentType, text),
      () => json(500, 'failed'),
    )
    return undefined
  }
  const server = createListener(answer, options)
  server.listen({ host, port })
  await once(server, 'listening')
  return server
}
