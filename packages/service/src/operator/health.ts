import type { FastifyInstance } from 'fastify'
import type { OperatorDependencies } from './dependencies.ts'

/** Health, readiness and metrics. They contain no customer data and need no token. */
export function health(server: FastifyInstance, { isReady, metrics }: OperatorDependencies): void {
  healthProbes(server, isReady)
  server.get('/metrics', async (_request, reply) => {
    return reply
      .header('cache-control', 'no-store')
      .type(metrics.contentType)
      .send(await metrics.metrics())
  })
}

export function healthProbes(server: FastifyInstance, isReady: () => boolean): void {
  server.get('/healthz', (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  )
  server.get('/readyz', (_request, reply) => {
    const ready = isReady()
    return reply
      .code(ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ status: ready ? 'ready' : 'not_ready' })
  })
}
