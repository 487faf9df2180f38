import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { listenerOptions } from '@agent-exchange/server/listener-options'
import { DRAIN_MS, LISTENER_LIMITS, type ListenerLimits } from './listener-limits.ts'

export interface ListenerOptions {
  readonly tls: { readonly certificate: string; readonly key: string } | undefined
  readonly limits?: ListenerLimits
}

/** A server without a framework, with TLS where there is a certificate. Not listening yet. */
export function createListener(
  answer: RequestListener,
  { tls, limits = LISTENER_LIMITS }: ListenerOptions,
): Server {
  const { connectionTimeout, http, https } = listenerOptions(tls)
  const { connections, requestMs } = limits
  // Node refuses headers that may take longer than the request.
  const headersTimeout = Math.min(http.headersTimeout, requestMs)
  const times = { headersTimeout, requestTimeout: requestMs }
  const server = https
    ? createTlsServer({ ...https, ...times }, answer)
    : createServer({ ...http, ...times }, answer)
  server.maxConnections = connections
  server.setTimeout(connectionTimeout)
  return server
}

/** Open requests are answered, for at most DRAIN_MS. */
export function closeListener(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS).unref()
    server.close(() => {
      clearTimeout(deadline)
      resolve()
    })
    server.closeIdleConnections()
  })
}
