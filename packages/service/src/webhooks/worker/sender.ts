import type { TLSSocket } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { Agent, type buildConnector, Client, type Dispatcher, Pool } from 'undici'
import { ConnectionFailure, describeError } from './connection-failure.ts'
import { type ConnectorSettings, guardedConnect, undiciConnector } from './guarded-connector.ts'
import {
  BODY_TIMEOUT_MS,
  HEADERS_TIMEOUT_MS,
  IDLE_CONNECTION_MS,
  MAXIMUM_CACHED,
  MAXIMUM_IN_FLIGHT,
  MAXIMUM_KEPT_CONNECTIONS,
  MAXIMUM_RESPONSE_HEADER_BYTES,
  SHORT_IDLE_CONNECTION_MS,
  TOTAL_TIMEOUT_MS,
} from './webhook-limits.ts'
import { type Connection, type RequestOutcome, WebhookRequest } from './webhook-request.ts'

export interface OutgoingWebhook {
  readonly url: string
  /** The owner of the endpoint. */
  readonly organizationId: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The outcome of one request, with details for the attempt record. */
export interface SendResult extends Omit<RequestOutcome, 'wasStale'> {
  readonly address: string | undefined
  readonly tlsVersion: string | undefined
  /** One line; undefined if there was a response. */
  readonly error: string | undefined
}

export interface Sender {
  send(request: OutgoingWebhook): Promise<SendResult>
  /** Cancels requests that have not been sent, of one organization or of all. They end without a result. */
  cancelUnsent(organizationId?: string): void
  /** Ends all requests. Those already sent get the error class `interrupted`. */
  interrupt(): void
  close(): Promise<void>
}

/** Posts webhooks over TLS to permitted addresses only. Redirects are not followed. */
export function createSender(settings: ConnectorSettings): Sender {
  const open = guardedConnect(settings)
  const inFlight = new Map<WebhookRequest, string>()
  let openConnections = 0
  const connector = (onOpen: (socket: TLSSocket) => void) =>
    undiciConnector(open, (socket) => {
      openConnections++
      socket.once('close', () => openConnections--)
      onOpen(socket)
    })
  const options = {
    allowH2: false,
    pipelining: 1,
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: BODY_TIMEOUT_MS,
    maxHeaderSize: MAXIMUM_RESPONSE_HEADER_BYTES,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
  }
  const openClient = (origin: string | URL, more: Client.Options = options) =>
    new ObservedClient(origin, { ...more, keepAliveTimeout: idleTimeOf(openConnections) }, connector)
  const agent = new Agent({
    ...options,
    connections: MAXIMUM_IN_FLIGHT,
    factory: (origin, given) =>
      new Pool(origin, {
        ...(given as Pool.Options),
        factory: (to, clientOptions) => openClient(to, clientOptions),
      }),
  })

  function dispatch(
    { url, organizationId, headers, body }: OutgoingWebhook,
    through: Dispatcher,
  ): WebhookRequest {
    const { origin, path } = targetOf(url)
    const request = new WebhookRequest()
    inFlight.set(request, organizationId)
    void request.done.finally(() => inFlight.delete(request))
    try {
      through.dispatch({ origin, path, method: 'POST', headers, body }, request)
    } catch (error) {
      request.fail(error)
    }
    return request
  }

  return {
    async send(webhook) {
      let request = dispatch(webhook, agent)
      const timer = setTimeout(() => request.end('timeout', 'no response in time'), TOTAL_TIMEOUT_MS)
      let outcome = await request.done
      if (outcome.wasStale) {
        // Other idle connections of this receiver may be stale too.
        const fresh = openClient(targetOf(webhook.url).origin)
        request = dispatch(webhook, fresh)
        outcome = await request.done
        void fresh.close()
      }
      clearTimeout(timer)
      const socket = request.connection?.socket
      const { failure, result, hasStarted } = outcome
      return {
        result,
        hasStarted,
        address: failure instanceof ConnectionFailure ? failure.address : socket?.remoteAddress,
        tlsVersion: hasStarted ? (socket?.getProtocol() ?? undefined) : undefined,
        error: failure === undefined ? undefined : describeError(failure),
      }
    },
    cancelUnsent(organizationId) {
      for (const [request, owner] of inFlight)
        if (organizationId === undefined || owner === organizationId) request.cancelUnsent()
    },
    interrupt: () => [...inFlight.keys()].forEach((request) => request.interrupt()),
    close: () => agent.destroy(),
  }
}

/** How long a new connection is kept while it is idle. */
export function idleTimeOf(openConnections: number): number {
  return openConnections < MAXIMUM_KEPT_CONNECTIONS ? IDLE_CONNECTION_MS : SHORT_IDLE_CONNECTION_MS
}

/** Parsed URLs, cached because the same endpoints are used again and again. */
const targets = new LRUCache<string, { readonly origin: string; readonly path: string }>({
  max: MAXIMUM_CACHED,
})

function targetOf(address: string) {
  const known = targets.get(address)
  if (known) return known
  const { origin, pathname, search } = new URL(address)
  const target = { origin, path: pathname + search }
  targets.set(address, target)
  return target
}

/** An undici client that gives each request access to its socket. */
class ObservedClient extends Client {
  readonly #connection: Connection

  constructor(
    origin: URL | string,
    options: Client.Options,
    connectorFor: (onOpen: (socket: TLSSocket) => void) => buildConnector.connector,
  ) {
    const connection: Connection = { socket: undefined, requests: 0 }
    super(origin, {
      ...options,
      connect: connectorFor((socket) => Object.assign(connection, { socket, requests: 0 })),
    })
    this.#connection = connection
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof WebhookRequest) handler.connection = this.#connection
    return super.dispatch(options, handler)
  }
}
