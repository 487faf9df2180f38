import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../kernel/context.ts'
import { Problem } from '../kernel/problem.ts'
import { answerUnparsedRequest } from './problem-replies.ts'

/** Handles requests that Node would answer without a problem document (ERR-01), or not at all. */
export function handleEdgeCases(app: FastifyInstance, context: Context): void {
  // RFC 9110 section 10.1.1: a server may ignore an unknown expectation.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request, socket) => {
    answerUnparsedRequest(new Error('CONNECT is not supported'), socket as Socket, context)
  })
  requireSingleHost(app)
}

/** RFC 9112 section 3.2. With two Host headers, a proxy may have routed by the other one. */
export function requireSingleHost(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    const hosts = raw.headersDistinct['host']?.length ?? 0
    if (hosts > 1) throw new Problem('header_invalid', { header: 'Host' })
    if (hosts === 0 && raw.httpVersion === '1.1') throw new Problem('header_missing', { header: 'Host' })
  })
}
