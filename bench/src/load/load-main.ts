/** The load generator process, started by `startLoad`. */

import type { Party } from '../exchange/parties.ts'
import { answerCalls } from '../processes/calls.ts'
import { openAll, type Address, type Connection, type Outgoing } from './connection.ts'
import { seeded } from '../random.ts'
import { sharedTime } from '../processes/shared-clock.ts'
import { closedLoop, openLoop, type Next, type OnSend, type Span } from './loops.ts'
import type { Outcome } from './outcome.ts'
import { stockOfPackages, stockOfReceipts, type ReceiptSource } from './package-stock.ts'
import { poissonSchedule, steadySchedule } from './schedule.ts'
import type { Stock, Target } from './stock.ts'

/** The source of requests: a stock, or URLs that are read repeatedly. */
export type Source = StockSource | ReadSource | PostSource

export interface StockSource {
  readonly kind: 'stock'
  /** The same ones again and again. */
  readonly isRepeated?: boolean
  /** The largest number to send. */
  readonly most?: number
  readonly stock: string
}

export interface ReadSource {
  readonly kind: 'reads'
  readonly reads: readonly { readonly path: string; readonly sender: number }[]
}

/** The same bodies again and again, to a server that needs neither token nor key. */
export interface PostSource {
  readonly kind: 'posts'
  readonly path: string
  readonly bodies: readonly Uint8Array[]
}

export interface Load extends Span {
  readonly target: Target
  readonly source: Source
  /** If set, an open loop at this rate. Otherwise a closed loop. */
  readonly perSecond?: number
  /** If set, the gaps of the open loop are exponentially distributed with this seed. Otherwise they are equal. */
  readonly poissonSeed?: number
  /** Whether the outcome lists every package with its time. */
  readonly isTraced?: boolean
}

/** When a package was due to be sent, by the shared clock. */
export interface SentPackage {
  readonly packageId: string
  readonly at: number
}

export interface LoadOutcome extends Outcome {
  readonly sent: readonly SentPackage[]
}

export interface StockOrder {
  readonly name: string
  readonly kind: 'packages' | 'receipts'
  readonly senders: readonly Party[]
  readonly receivers: readonly Party[]
  /** How policy receipts for the packages get into the service, if they are needed. */
  readonly receipts?: ReceiptSource
}

const stocks = new Map<string, Stock>()
let connections: readonly Connection[] = []

function stockOf(name: string): Stock {
  const stock = stocks.get(name)
  if (!stock) throw new Error(`there is no stock ${name}`)
  return stock
}

function requestsFor(source: Source, { url, tokens }: Target): Next {
  const { host } = new URL(url)
  if (source.kind === 'stock') {
    const stock = stockOf(source.stock)
    const next = source.isRepeated ? stock.cycle(host, tokens) : stock.take(host, tokens)
    return source.most === undefined ? next : limited(next, source.most)
  }
  return inTurn(source.kind === 'reads' ? readsOf(source, host, tokens) : postsOf(source, host))
}

function readsOf({ reads }: ReadSource, host: string, tokens: readonly string[]): Outgoing[] {
  return reads.map(({ path, sender }) => ({
    head:
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${tokens[sender] ?? ''}\r\n` +
      'X-Correlation-ID: corr_bench\r\n\r\n',
  }))
}

function postsOf({ path, bodies }: PostSource, host: string): Outgoing[] {
  return bodies.map((body) => ({
    head:
      `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n`,
    body,
  }))
}

function limited(next: Next, most: number): Next {
  let left = most
  return () => (left-- > 0 ? next() : undefined)
}

function inTurn(requests: readonly Outgoing[]): Next {
  let at = 0
  return () => requests[at++ % requests.length]
}

function scheduleOf({ perSecond, poissonSeed }: Load) {
  if (perSecond === undefined) return undefined
  return poissonSeed === undefined
    ? steadySchedule(perSecond)
    : poissonSchedule(perSecond, seeded(poissonSeed))
}

const calls = {
  async createStock({ name, kind, senders, receivers, receipts }: StockOrder): Promise<void> {
    const stock = kind === 'packages' ? stockOfPackages(receipts) : stockOfReceipts
    stocks.set(name, await stock(senders, receivers))
  },
  fill: (name: string, count: number, target?: Target): Promise<void> => stockOf(name).fill(count, target),
  /** Opens connections before time and CPU are measured, to exclude handshakes. */
  async connect(address: Address, clients: number): Promise<void> {
    connections = await openAll(address, clients)
  },
  async run(load: Load): Promise<LoadOutcome> {
    const next = requestsFor(load.source, load.target)
    const sent: SentPackage[] = []
    const onSend: OnSend | undefined = load.isTraced
      ? ({ packageId = '' }, at) => void sent.push({ packageId, at: sharedTime(at) })
      : undefined
    try {
      const schedule = scheduleOf(load)
      const outcome = await (schedule
        ? openLoop(connections, next, { ...load, schedule }, { onSend })
        : closedLoop(connections, next, load, onSend))
      return { ...outcome, sent }
    } finally {
      connections.forEach((connection) => connection.close())
    }
  },
}

export type LoadCalls = typeof calls

answerCalls(calls)
