import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../kernel/context.ts'
import { Problem } from '../kernel/problem.ts'
import { answerBrokenRequest } from './problem-replies.ts'

/** Requests that Node would answer by itself, without a problem document (ERR-01), or not at all. */
export function answerOddRequests(app: FastifyInstance, context: Context): void {
  // RFC 9110 section 10.1.1: an expectation that is not understood may be ignored.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request, socket) => {
    answerBrokenRequest(new Error('a tunnel was asked for'), socket as Socket, context)
  })
  requireOneHost(app)
}

/** RFC 9112 section 3.2. With two, a proxy in front may have decided by the other one. */
export function requireOneHost(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    const hosts = raw.headersDistinct['host']?.length ?? 0
    if (hosts > 1) throw new Problem('header_invalid', { header: 'Host' })
    if (hosts === 0 && raw.httpVersion === '1.1') throw new Problem('header_missing', { header: 'Host' })
  })
}
