import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { drainOnClose } from '@agent-exchange/server/drain-on-close'
import { listenerOptions } from '@agent-exchange/server/listener-options'
import { LISTENER_LIMITS, type ListenerLimits } from './listener-limits.ts'

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
  drainOnClose(server)
  server.setTimeout(connectionTimeout)
  return server
}

/** Open requests are answered, for a limited time. */
export function closeListener(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}
