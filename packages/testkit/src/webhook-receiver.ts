import { createServer } from 'node:https'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { testAuthority, type Identity, type TestAuthority } from './certificates.ts'

/** A received request. */
export interface ReceivedWebhook {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  readonly deliveryId: string
  readonly eventId: string
  readonly attempt: number
  /** The number of the connection, starting at 1. */
  readonly connection: number
  readonly tlsVersion: string | null
}

/** Handles a request: returns a status, or writes the response itself. */
export type Reply = (request: ReceivedWebhook, response: ServerResponse) => number | void

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly authority: TestAuthority
  readonly received: ReceivedWebhook[]
  readonly connections: () => number
  /** Applies from the next request on. */
  reply: Reply
  /** Closes every connection, also those with pending requests. */
  cut(): void
}

export interface ReceiverOptions {
  readonly reply?: Reply
  /** The authority that signs the certificate; several receivers can share it. */
  readonly authority?: TestAuthority
  readonly identity?: Identity
}

/** A real HTTPS server on loopback that records requests. Responds with 204 by default. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<WebhookReceiver> {
  const authority = options.authority ?? (await testAuthority())
  const { certificate: cert, key } = options.identity ?? (await authority.server())
  const received: ReceivedWebhook[] = []
  const sockets = new Map<Socket, number>()
  let connections = 0
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { headers } = request
      const webhook: ReceivedWebhook = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks),
        deliveryId: String(headers['svc-delivery-id']),
        eventId: String(headers['svc-event-id']),
        attempt: Number(headers['svc-delivery-attempt']),
        connection: sockets.get(request.socket) ?? 0,
        tlsVersion:
          'getProtocol' in request.socket
            ? (request.socket as { getProtocol(): string }).getProtocol()
            : null,
      }
      received.push(webhook)
      const status = receiver.reply(webhook, response)
      if (typeof status === 'number') response.writeHead(status).end()
    })
  })
  server.on('secureConnection', (socket) => {
    sockets.set(socket, ++connections)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const receiver: WebhookReceiver = {
    url: `https://localhost:${port}/hook`,
    port,
    authority,
    received,
    connections: () => connections,
    reply: options.reply ?? (() => 204),
    cut: () => [...sockets.keys()].forEach((socket) => socket.destroy()),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      receiver.cut()
      await closed
    },
  }
  return receiver
}
