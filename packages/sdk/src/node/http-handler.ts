import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { WebhookHandler } from '../receive/webhook-handler.ts'

/** Time for the sender to read a response that was sent before the end of its body. */
const LINGER_MS = 1_000

/**
 * Serves a webhook handler with `node:http` or `node:https`. The handler gets the exact bytes, and applies its limits
 * on size and time while they arrive.
 *
 * @example
 * createServer({ cert, key }, toNodeListener(receiver.handler)).listen(8443)
 */
export function toNodeListener(handler: WebhookHandler): RequestListener {
  return (request, response) => {
    respond(handler, request, response).catch(() => response.destroy())
  }
}

async function respond(
  handler: WebhookHandler,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // The signature covers the exact bytes, which a body parser would have consumed.
  if (request.readableDidRead)
    return plain(response, 500, 'Mount the webhook handler before any body parser.')
  const incoming = toRequest(request)
  if (!incoming) return plain(response, 400, 'The request cannot be read.')
  const answer = await handler(incoming)
  const body = Buffer.from(await answer.arrayBuffer())
  const isEarly = !request.complete
  response.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    ...(answer.status !== 204 && { 'content-length': body.length }),
    ...(isEarly && { connection: 'close' }),
  })
  response.end(body)
  if (isEarly) setTimeout(() => request.destroy(), LINGER_MS).unref()
}

/** The request as a platform `Request`; undefined if its method or address is invalid. */
function toRequest(message: IncomingMessage): Request | undefined {
  const { method = '', rawHeaders, url = '/', headers } = message
  const scheme = 'encrypted' in message.socket ? 'https' : 'http'
  // `rawHeaders`: Node's parsed record drops repeated fields.
  const fields = new Headers()
  try {
    for (let i = 0; i + 1 < rawHeaders.length; i += 2)
      fields.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '')
    const address = new URL(url, `${scheme}://${headers.host ?? 'localhost'}`)
    const hasBody = method !== 'GET' && method !== 'HEAD'
    return new Request(address, {
      method,
      headers: fields,
      ...(hasBody && { body: bodyOf(message), duplex: 'half' as const }),
    })
  } catch {
    return undefined
  }
}

/** Not Readable.toWeb: cancelling that closes the connection before the response is sent. */
function bodyOf(message: IncomingMessage): ReadableStream<Uint8Array> {
  let isOver = false
  /** The first end counts: after it the stream takes no more. */
  const end = (how: () => void) => {
    if (!isOver) how()
    isOver = true
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      message.on('data', (chunk: Buffer) => {
        if (isOver) return
        controller.enqueue(new Uint8Array(chunk))
        if ((controller.desiredSize ?? 0) <= 0) message.pause()
      })
      message.on('end', () => end(() => controller.close()))
      message.on('error', (error) => end(() => controller.error(error)))
      message.on('close', () => end(() => controller.error(new Error('The connection was closed.'))))
    },
    pull: () => void message.resume(),
    cancel: () => end(() => message.pause()),
  })
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
  response.end(text)
}
