/** The load generator process, started by `startLoad`. */

import { answerCalls } from '../processes/calls.ts'
import { openAll, type Address, type Connection } from './connection.ts'
import { seeded } from '../random.ts'
import { sharedTime } from '../processes/shared-clock.ts'
import { recordStalls, type Interval, type Stalls } from '../stalls/stall-recorder.ts'
import { closedLoop, openLoop, type Next, type OnEnd, type OnSend, type Outcome, type Span } from './loops.ts'
import { poissonSchedule, steadySchedule } from './schedule.ts'
import { tenacious } from './tenacious-connection.ts'
import { createStock, get, post, type Stock, type StockOrder, type Target } from './stock.ts'

/** The source of requests: a stock, or requests that are repeated. */
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

/** The same bodies again and again, each time with another idempotency key. */
export interface PostSource {
  readonly kind: 'posts'
  readonly path: string
  readonly posts: readonly {
    readonly body: Uint8Array
    readonly sender: number
    readonly isChunked?: boolean
  }[]
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
  /** Whether the outcome of an open loop lists every measured request, and the stalls of this process. */
  readonly isTimed?: boolean
}

/** When a package was due to be sent, by the shared clock. */
export interface SentPackage {
  readonly packageId: string
  readonly at: number
}

export interface LoadOutcome extends Outcome {
  readonly sent: readonly SentPackage[]
  /** From the due time to the response, by the shared clock. */
  readonly timed: readonly Interval[]
  readonly stalls: Stalls | undefined
}

const stocks = new Map<string, Stock>()
let connections: readonly Connection[] = []

function stockOf(name: string): Stock {
  const stock = stocks.get(name)
  if (!stock) throw new Error(`there is no stock ${name}`)
  return stock
}

function requestsFor(source: Source, target: Target): Next {
  let at = 0
  if (source.kind === 'stock') {
    const stock = stockOf(source.stock)
    const next = source.isRepeated ? stock.cycle(target) : stock.take(target)
    return () => (at++ < (source.most ?? Infinity) ? next() : undefined)
  }
  if (source.kind === 'reads') {
    const requests = source.reads.map(({ path, sender }) => get(target, path, sender))
    return () => requests[at++ % requests.length]
  }
  const { path, posts } = source
  return () => {
    const one = posts[at % posts.length]
    return one && post(target, { path, ...one, id: `${process.pid}_${performance.now()}_${at++}` })
  }
}

function scheduleOf({ perSecond, poissonSeed }: Load) {
  if (perSecond === undefined) return undefined
  return poissonSeed === undefined
    ? steadySchedule(perSecond)
    : poissonSchedule(perSecond, seeded(poissonSeed))
}

const calls = {
  async createStock(order: StockOrder): Promise<void> {
    stocks.set(order.name, await createStock(order))
  },
  fill: (name: string, count: number, target?: Target): Promise<void> => stockOf(name).fill(count, target),
  /** Opens connections before time and CPU are measured, to exclude handshakes. */
  async connect(address: Address, clients: number): Promise<void> {
    connections = await openAll(address, clients)
  },
  async run(load: Load): Promise<LoadOutcome> {
    const next = requestsFor(load.source, load.target)
    const senders =
      load.status === 'any' ? connections.map((each) => tenacious(each, load.target)) : connections
    const sent: SentPackage[] = []
    const onSend: OnSend | undefined = load.isTraced
      ? ({ packageId = '' }, at) => void sent.push({ packageId, at: sharedTime(at) })
      : undefined
    const timed: Interval[] = []
    const onEnd: OnEnd | undefined = load.isTimed
      ? (due, ended) => void timed.push({ from: sharedTime(due), to: sharedTime(ended) })
      : undefined
    const recorder = load.isTimed ? recordStalls() : undefined
    try {
      const schedule = scheduleOf(load)
      const outcome = await (schedule
        ? openLoop(senders, next, { ...load, schedule }, { onSend, onEnd })
        : closedLoop(senders, next, load, onSend))
      return { ...outcome, sent, timed, stalls: recorder?.take() }
    } finally {
      recorder?.stop()
      senders.forEach((sender) => sender.close())
    }
  },
}

export type LoadCalls = typeof calls

answerCalls(calls)
