import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { listenerOptions } from '@agent-exchange/server/listener-options'
import type { Registry } from 'prom-client'

export interface AdminListenerOptions {
  readonly host: string
  readonly port: number
  readonly tls: { readonly certificate: string; readonly key: string } | undefined
  readonly isReady: () => boolean
  readonly metrics: Registry
}

/** Health, readiness and metrics. They hold no data of the company and need no token. */
export async function listenForAdministration(options: AdminListenerOptions): Promise<Server> {
  const { host, port, tls, isReady, metrics } = options
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
  const { http, https } = listenerOptions(tls)
  const server = https ? createTlsServer(https, answer) : createServer(http, answer)
  server.listen({ host, port })
  await once(server, 'listening')
  return server
}
