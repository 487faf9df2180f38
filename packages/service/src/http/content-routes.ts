import { HEADER, MEDIA_TYPE } from '@agent-exchange/protocol'
import type { FastifyInstance } from 'fastify'
import { downloadContent } from '../features/packages/download.ts'
import { DOWNLOAD_PATH } from '../features/packages/package-resource.ts'
import { Problem } from '../kernel/problem.ts'
import type { AgentServerDependencies } from './dependencies.ts'
import { authenticate } from './authentication.ts'
import { addLogFields } from './request-log-fields.ts'
import { optionalHeader } from './request-headers.ts'
import { costBeyondOne } from './rate-limit.ts'
import { spanOf } from './request-spans.ts'

/**
 * PKG-04, O-36: the exact bytes of a native package, for its parties, outside `/v1`. Range is ignored, as RFC 9110
 * section 14.2 permits, so that every fetch is complete and counts as delivery.
 */
export function registerContent(app: FastifyInstance, dependencies: AgentServerDependencies): void {
  const { context, db, authentication, rate, concurrency } = dependencies
  app.route({
    method: ['GET', 'HEAD'],
    url: `${DOWNLOAD_PATH}:package_id`,
    handler: async (request, reply) => {
      const { caller } = await authenticate(request, authentication)
      await rate.take(caller.organizationId)
      const correlationId =
        optionalHeader(request.raw, HEADER.correlationId, context.profile) ?? context.newId('corr')
      addLogFields(request, { correlation_id: correlationId })
      const packageId = (request.params as { package_id: string }).package_id
      if (packageId.includes('\0')) throw new Problem('resource_not_found')
      const download = {
        caller,
        packageId,
        isFetch: request.method === 'GET',
        correlationId,
        idempotencyKey: correlationId,
        now: context.clock.now(),
        context,
        span: spanOf(request),
      }
      // The first fetch needs a transaction.
      const content = await concurrency.changes(caller.organizationId, () => downloadContent(download, db))
      rate.charge(caller.organizationId, costBeyondOne(content?.length ?? 0, context.profile))
      reply.header('content-type', MEDIA_TYPE.json).header('cache-control', 'no-store')
      return reply.header('x-correlation-id', correlationId).send(content)
    },
  })
}
