import fastify, { type FastifyInstance } from 'fastify'
import { listenerOptions } from '@agent-exchange/server/listener-options'
import { listenAddress } from '@agent-exchange/server/settings'
import type { Config } from '../config/index.ts'
import { limitConnections, type ConnectionRules } from '../http/connection-limit.ts'
import { healthProbes } from './health.ts'

const RETRY_AFTER_SECONDS = '5'

export interface StartupListener extends AsyncDisposable {
  /** Frees the address for the operator API. */
  close(): Promise<void>
}

/**
 * Answers the health probes on the address of the operator API while the service starts: a migration may take longer
 * than a supervisor waits for a process that does not answer. Every other request is answered with 503.
 */
export async function openStartupListener(
  { tls, operatorHost, operatorPort }: Pick<Config, 'tls' | 'operatorHost' | 'operatorPort'>,
  connections: ConnectionRules,
): Promise<StartupListener> {
  const { connectionTimeout, http, https } = listenerOptions(tls)
  // Typed as the server without TLS, because both have the same methods and hooks.
  const server = fastify({
    connectionTimeout,
    forceCloseConnections: true,
    ...(https ? { https } : { http }),
  }) as unknown as FastifyInstance
  limitConnections(server.server, connections)
  healthProbes(server, () => false)
  server.setNotFoundHandler((_request, reply) =>
    reply.code(503).header('retry-after', RETRY_AFTER_SECONDS).send({ status: 'not_ready' }),
  )
  await server.listen({ host: listenAddress(operatorHost), port: operatorPort })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= server.close())
  return { close, [Symbol.asyncDispose]: close }
}
