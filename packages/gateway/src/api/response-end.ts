import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Logged and counted where the caller went away before the answer was sent. Never sent (nginx uses the same number). */
const CALLER_GONE = 499

/** Runs `end` once, when the response was sent or its connection is gone. It may be gone already. */
export function onceClosed(response: ServerResponse, end: () => void): void {
  if (response.destroyed) end()
  else response.once('close', end)
}

/**
 * Runs `end` after each request with its status. Unlike Fastify's onResponse, also for requests that their caller
 * aborted.
 */
export function onResponseEnd(
  app: FastifyInstance,
  end: (request: FastifyRequest, reply: FastifyReply, status: number) => void,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    onceClosed(reply.raw, () => {
      end(request, reply, reply.raw.writableFinished ? reply.raw.statusCode : CALLER_GONE)
    })
    done()
  })
}
