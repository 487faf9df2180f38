import { HEADER, MEDIA_TYPE } from '@agent-exchange/protocol'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { downloadContent } from '../features/packages/download.ts'
import { DOWNLOAD_PATH } from '../features/packages/store.ts'
import { Problem } from '../kernel/problem.ts'
import type { AgentServerDependencies } from './dependencies.ts'
import { authenticate } from './authentication.ts'
import { noteFacts } from './request-facts.ts'
import { optionalHeader } from './request-headers.ts'

const SINGLE_RANGE = /^bytes=(\d{1,15})-(\d{1,15})?$/

/** PKG-04, O-36: the exact bytes of a native package, for its parties, outside `/v1`. */
export function registerContent(app: FastifyInstance, dependencies: AgentServerDependencies): void {
  const { context, db, authentication, limitRate } = dependencies
  app.route({
    method: ['GET', 'HEAD'],
    url: `${DOWNLOAD_PATH}:package_id`,
    handler: async (request, reply) => {
      const caller = await authenticate(request, authentication)
      limitRate(caller.organizationId)
      const correlationId =
        optionalHeader(request.raw, HEADER.correlationId, context.profile) ?? context.newId('corr')
      noteFacts(request, { correlation_id: correlationId })
      const packageId = (request.params as { package_id: string }).package_id
      if (packageId.includes('\0')) throw new Problem('resource_not_found')
      // RFC 9110 section 14.2: a range that cannot be read is as if there were none.
      const range = SINGLE_RANGE.exec(request.headers.range ?? '') ?? undefined
      const content = await downloadContent(
        {
          caller,
          packageId,
          isWhole: request.method === 'GET' && range === undefined,
          correlationId,
          idempotencyKey: correlationId,
          now: context.clock.now(),
          context,
        },
        db,
      )
      reply
        .header('content-type', MEDIA_TYPE.json)
        .header('cache-control', 'no-store')
        .header('accept-ranges', 'bytes')
      reply.header('x-correlation-id', correlationId)
      return range === undefined ? reply.send(content) : sendRange(reply, content, range)
    },
  })
}

/** RFC 9110 section 14: one range; anything else is answered with all of it. */
function sendRange(reply: FastifyReply, content: Buffer, range: RegExpExecArray): FastifyReply {
  const [, first, last] = range
  const start = Number(first)
  const end = Math.min(last === undefined ? Infinity : Number(last), content.length - 1)
  if (start > end) return reply.code(416).header('content-range', `bytes */${content.length}`).send()
  reply.code(206).header('content-range', `bytes ${start}-${end}/${content.length}`)
  return reply.send(content.subarray(start, end + 1))
}
