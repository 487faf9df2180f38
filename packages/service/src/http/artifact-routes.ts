import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RefusalDelay } from '@agent-exchange/server/refusal-delay'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ARTIFACT_PATH } from '../features/skills/artifact-address.ts'
import { createArtifactReader } from '../features/skills/artifact-reader.ts'
import { limitedPeer } from './connection-limit.ts'
import type { AgentServerDependencies } from './dependencies.ts'
import { createDownloadLimit } from './download-limit.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
/** A reader that takes longer for one part is disconnected, so that slow readers cannot occupy all downloads. */
const PART_LIMIT_MS = 30_000
/** Written at once: between two pieces other requests have their turn. */
const PIECE_BYTES = 65_536

/** ID-10: skill artifacts by digest. Access is public, because they are signed and content-addressed. */
export function registerArtifacts(
  app: FastifyInstance,
  { db, context, connections }: AgentServerDependencies,
  delayRefusal: RefusalDelay,
): void {
  const artifacts = createArtifactReader(db, context.profile['O-14'].artifact_cache_bytes)
  const limitDownloads = createDownloadLimit(context.profile)
  app.route({
    method: ['GET', 'HEAD'],
    url: `${ARTIFACT_PATH}/:name`,
    onRequest: async (request, reply) => {
      const address = limitedPeer(request.raw.socket, connections)
      try {
        reply.raw.once('close', limitDownloads(address))
      } catch (error) {
        if (address !== undefined && !(await delayRefusal(address))) reply.header('connection', 'close')
        throw error
      }
    },
    handler: async (request: FastifyRequest, reply) => {
      const { name } = request.params as { name: string }
      const length = await artifacts.length(name)
      reply.header('content-type', 'application/octet-stream').header('cache-control', IMMUTABLE)
      reply.header('content-length', String(length))
      if (request.method === 'HEAD') return reply.send()
      return reply.send(withinTime(artifacts.parts(name, length), reply))
    },
  })
}

/** Disconnects a reader that stops reading. Without a high-water mark, the stream asks for one piece at a time. */
function withinTime(parts: AsyncGenerator<Uint8Array, void>, reply: FastifyReply): Readable {
  const deadline = setTimeout(() => reply.raw.destroy(), PART_LIMIT_MS).unref()
  reply.raw.once('close', () => clearTimeout(deadline))
  async function* timed() {
    for await (const part of parts) {
      deadline.refresh()
      for (let offset = 0; offset < part.length; offset += PIECE_BYTES) {
        yield part.subarray(offset, offset + PIECE_BYTES)
        await nextTurn()
      }
    }
  }
  return Readable.from(timed(), { objectMode: false, highWaterMark: 0 })
}
