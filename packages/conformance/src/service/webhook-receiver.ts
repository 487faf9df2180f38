import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Finding } from '../run/finding.ts'

export interface ReceivedWebhook {
  readonly method: string
  readonly authority: string
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Milliseconds of the local clock. */
  readonly at: number
}

export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** The connection ends without an answer. */
  readonly isLost?: true
}

/** One address of the receiver. */
export interface Subscription {
  readonly url: string
  readonly received: readonly ReceivedWebhook[]
  /** Of the next requests. */
  reply: Reply
  /** Waits for a request that fits; a finding if none comes. */
  until(fits: (webhook: ReceivedWebhook) => boolean, what: string, limitMs?: number): Promise<ReceivedWebhook>
}

export interface WebhookReceiver extends AsyncDisposable {
  /** The address of the receiver without a slash at its end. */
  readonly url: string
  subscribe(path: string): Subscription
  readonly hasSubscriptions: boolean
  /** From now on, each request gets 410, which disables its endpoint. */
  answerGone(): void
  /** Waits until each endpoint that was ever reached got its 410, for a limited time. */
  untilAllGone(): Promise<void>
}

export interface ReceiverOptions {
  /** As the service reaches it, such as `https://kit.example:8443`. */
  readonly url: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly certificate: string
  readonly key: string
  /** Changes what arrives, so that a mutant can break a rule of webhooks. */
  readonly alter?: (webhook: ReceivedWebhook) => readonly ReceivedWebhook[]
  /** Changes what is answered, so that the service seems not to see a part of it. */
  readonly answer?: (reply: Reply) => Reply
}

const ARRIVAL_LIMIT_MS = 20_000
const POLL_MS = 20
/** A new event reaches an endpoint at once, or after the one second between two requests of an untried one (O-45). */
const CLOSING_LIMIT_MS = 5_000
const GONE: Reply = { status: 410 }
const MAXIMUM_BODY_BYTES = 65_536
const MAXIMUM_RECEIVED = 1_000

/** A real HTTPS server for the webhooks of the service. */
export async function startReceiver(options: ReceiverOptions): Promise<WebhookReceiver> {
  const subscriptions = new Map<string, { received: ReceivedWebhook[]; reply: Reply; isGone?: true }>()
  let isClosing = false
  const server = createServer({ cert: options.certificate, key: options.key }, (request, response) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MAXIMUM_BODY_BYTES) request.destroy()
      else chunks.push(chunk)
    })
    request.on('end', () => {
      const path = request.url ?? ''
      const found = subscriptions.get(path)
      const arrived: ReceivedWebhook = {
        method: request.method ?? '',
        authority: request.headers.host ?? '',
        path,
        headers: Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        ),
        body: Buffer.concat(chunks).toString('utf8'),
        at: Date.now(),
      }
      if (found && found.received.length < MAXIMUM_RECEIVED)
        found.received.push(...(options.alter?.(arrived) ?? [arrived]))
      // Nobody waits for an endpoint without subscription, such as one of an earlier run.
      const meant = isClosing ? GONE : (found?.reply ?? GONE)
      const reply = options.answer?.(meant) ?? meant
      if (isClosing && found) found.isGone = true
      if (reply.isLost) request.socket.destroy()
      else response.writeHead(reply.status, reply.headers).end()
    })
  })
  const { host, port } = options.listen
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const url = new URL(options.url)
  if (url.port === '0') url.port = String((server.address() as AddressInfo).port)
  const base = url.href.replace(/\/$/u, '')
  return {
    url: base,
    subscribe(path) {
      const entry = { received: [] as ReceivedWebhook[], reply: { status: 204 } as Reply }
      subscriptions.set(`${url.pathname.replace(/\/$/u, '')}/${path}`, entry)
      return Object.assign(entry, {
        url: `${base}/${path}`,
        async until(
          fits: (webhook: ReceivedWebhook) => boolean,
          what: string,
          limitMs = ARRIVAL_LIMIT_MS,
        ): Promise<ReceivedWebhook> {
          for (const end = Date.now() + limitMs; Date.now() < end; await sleep(POLL_MS)) {
            const found = entry.received.find(fits)
            if (found) return found
          }
          throw new Finding(`${what} did not arrive within ${limitMs / 1_000} s`)
        },
      })
    },
    get hasSubscriptions() {
      return subscriptions.size > 0
    },
    answerGone() {
      isClosing = true
    },
    async untilAllGone() {
      const reached = [...subscriptions.values()].filter(({ received }) => received.length > 0)
      for (const end = Date.now() + CLOSING_LIMIT_MS; Date.now() < end; await sleep(POLL_MS))
        if (reached.every(({ isGone, reply }) => isGone || reply.status === GONE.status)) return
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
