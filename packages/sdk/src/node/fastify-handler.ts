import type { IncomingMessage, ServerResponse } from 'node:http'
import type { WebhookHandler } from '../receive/webhook-handler.ts'
import { toNodeListener } from './http-handler.ts'

/** What is used of a Fastify instance, so that the SDK needs no Fastify. */
export interface FastifyLike {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    contentType: string,
    parser: (request: unknown, payload: unknown, done: (error: Error | null) => void) => void,
  ): unknown
  all(
    path: string,
    handler: (
      request: { readonly raw: IncomingMessage },
      reply: { readonly raw: ServerResponse; hijack(): unknown },
    ) => void,
  ): unknown
}

export interface FastifyWebhookOptions {
  /** The path below the prefix of the plugin. */
  readonly path?: string
}

/**
 * A Fastify plugin that serves a webhook handler. It takes the bytes before any parser of the application does;
 * parsers and routes outside the plugin stay as they are.
 *
 * @example
 * await app.register(fastifyWebhook(receiver.handler, { path: '/hooks/exchange' }))
 */
export function fastifyWebhook(
  handler: WebhookHandler,
  { path = '/' }: FastifyWebhookOptions = {},
): (instance: FastifyLike) => Promise<void> {
  const listener = toNodeListener(handler)
  return async (instance) => {
    instance.removeAllContentTypeParsers()
    instance.addContentTypeParser('*', (_request, _payload, done) => done(null))
    instance.all(path, (request, reply) => {
      reply.hijack()
      listener(request.raw, reply.raw)
    })
  }
}
