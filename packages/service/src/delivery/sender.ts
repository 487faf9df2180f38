import { LRUCache } from 'lru-cache'
import { Agent, type buildConnector, Client, type Dispatcher, Pool } from 'undici'
import type { TLSSocket } from 'node:tls'
import { ConnectionFailure, describeError } from './connection-failure.ts'
import { type ConnectorSettings, guardedConnect, undiciConnector } from './guarded-connector.ts'
import {
  BODY_LIMIT_MS,
  HEADERS_LIMIT_MS,
  IDLE_CONNECTION_MS,
  LONGEST_IDLE_CONNECTION_MS,
  MAXIMUM_ANSWER_HEADER_BYTES,
  MAXIMUM_IN_FLIGHT,
  TOTAL_LIMIT_MS,
} from './limits.ts'
import { type Connection, type Exchanged, Exchange } from './exchange.ts'

export interface Outgoing {
  readonly url: string
  /** Whose endpoint it is. */
  readonly organizationId: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** What was seen of one request, for the record. */
export interface Sent extends Exchanged {
  readonly address: string | undefined
  readonly tlsVersion: string | undefined
  /** One line, where there was no answer. */
  readonly error: string | undefined
}

export interface Sender {
  send(request: Outgoing): Promise<Sent>
  /** Ends what has not begun to leave, of one organization or of all: it comes back without a result. */
  recall(organizationId?: string): void
  /** Ends the rest too, as interrupted. */
  interrupt(): void
  close(): Promise<void>
}

/** Posts to receivers: over TLS, to addresses that may be reached, without following anybody anywhere else. */
export function createSender(settings: ConnectorSettings): Sender {
  const open = guardedConnect(settings)
  const underWay = new Map<Exchange, string>()
  const agent = new Agent({
    allowH2: false,
    pipelining: 1,
    connections: MAXIMUM_IN_FLIGHT,
    headersTimeout: HEADERS_LIMIT_MS,
    bodyTimeout: BODY_LIMIT_MS,
    maxHeaderSize: MAXIMUM_ANSWER_HEADER_BYTES,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: LONGEST_IDLE_CONNECTION_MS,
    factory: (origin, options) =>
      new Pool(origin, {
        ...(options as Pool.Options),
        factory: (to, clientOptions) => {
          return new ObservedClient(to, clientOptions, (onOpen) => undiciConnector(open, onOpen))
        },
      }),
  })

  return {
    async send({ url, organizationId, headers, body }) {
      const { origin, path } = targetOf(url)
      const exchange = new Exchange()
      underWay.set(exchange, organizationId)
      const timer = setTimeout(() => exchange.end('timeout', 'no answer in time'), TOTAL_LIMIT_MS)
      try {
        agent.dispatch({ origin, path, method: 'POST', headers, body }, exchange)
      } catch (error) {
        exchange.fail(error)
      }
      const { failure, ...exchanged } = await exchange.done
      clearTimeout(timer)
      underWay.delete(exchange)
      const { socket } = exchange.connection ?? {}
      return {
        ...exchanged,
        address: failure instanceof ConnectionFailure ? failure.address : socket?.remoteAddress,
        tlsVersion: exchanged.hasStarted ? (socket?.getProtocol() ?? undefined) : undefined,
        error: failure === undefined ? undefined : describeError(failure),
      }
    },
    recall(organizationId) {
      for (const [exchange, owner] of underWay)
        if (organizationId === undefined || owner === organizationId) exchange.recall()
    },
    interrupt: () => [...underWay.keys()].forEach((exchange) => exchange.interrupt()),
    close: () => agent.destroy(),
  }
}

const MAXIMUM_REMEMBERED_TARGETS = 10_000

/** Endpoints are few, and sent to again and again. */
const targets = new LRUCache<string, { readonly origin: string; readonly path: string }>({
  max: MAXIMUM_REMEMBERED_TARGETS,
})

function targetOf(address: string) {
  const known = targets.get(address)
  if (known) return known
  const { origin, pathname, search } = new URL(address)
  const target = { origin, path: pathname + search }
  targets.set(address, target)
  return target
}

/** A connection that tells each exchange over which socket it goes. */
class ObservedClient extends Client {
  readonly #connection: Connection

  constructor(
    origin: URL | string,
    options: Client.Options,
    connectorFor: (onOpen: (socket: TLSSocket) => void) => buildConnector.connector,
  ) {
    const connection: Connection = { socket: undefined }
    super(origin, { ...options, connect: connectorFor((socket) => (connection.socket = socket)) })
    this.#connection = connection
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof Exchange) handler.connection = this.#connection
    return super.dispatch(options, handler)
  }
}
