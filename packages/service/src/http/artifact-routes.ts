import type { FastifyInstance } from 'fastify'
import { ARTIFACT_PATH, readArtifact } from '../features/skills/read-artifact.ts'
import type { AgentServerDependencies } from './dependencies.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'

/** ID-10: skill artifacts by digest. Access is public, because they are signed and content-addressed. */
export function registerArtifacts(app: FastifyInstance, { db }: AgentServerDependencies): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: `${ARTIFACT_PATH}/:name`,
    handler: async (request, reply) => {
      const { content } = await readArtifact(db, (request.params as { name: string }).name)
      reply.header('content-type', 'application/octet-stream').header('cache-control', IMMUTABLE)
      return reply.send(Buffer.from(content))
    },
  })
}
