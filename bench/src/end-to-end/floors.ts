import type { DeliveringExchange, Rig } from '../exchange/delivering-exchange.ts'
import { toParty } from '../exchange/parties.ts'
import { open } from '../exchange/postgres-server.ts'
import { startReferenceProcess } from '../reference/reference-process.ts'
import { percentiles } from '../statistics.ts'

/** Latency of the two things that a package cannot do without. */
export interface Floor {
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface Floors {
  /** An answer of the same HTTP server without a database. */
  readonly answer: () => Promise<Floor>
  /** An empty transaction with its flush, on the same PostgreSQL. */
  readonly commit: () => Promise<Floor>
}

const STOCK = 'floor'
const STOCK_SIZE = 64
const ACCEPTED = 202
const SPAN = { rampMs: 100, measureMs: 1_000 }
const COMMITS = 100

export async function prepareFloors(
  { load, postgres }: Rig,
  { exchange, senders, tokens, api }: DeliveringExchange,
  cleanup: AsyncDisposableStack,
): Promise<Floors> {
  const server = { kind: 'floor' } as const
  const floor = cleanup.use(await startReferenceProcess({ service: api }, senders, { workers: 1, server }))
  const parties = senders.map(toParty)
  await load.call('createStock', { name: STOCK, kind: 'packages', senders: parties, receivers: parties })
  await load.call('fill', STOCK, STOCK_SIZE)
  const db = cleanup.use(open(postgres.asSuperuser(exchange.database), 1))
  return {
    async answer() {
      const target = { url: floor.url, tokens: await tokens.fresh() }
      await load.call('connect', target, 1)
      const source = { kind: 'stock', stock: STOCK, isRepeated: true } as const
      return load.call('run', { ...SPAN, target, source, status: ACCEPTED })
    },
    async commit() {
      const times: number[] = []
      while (times.length < COMMITS) {
        const from = performance.now()
        // Without a WAL record, PostgreSQL would not wait for the flush of the commit.
        await db`select pg_logical_emit_message(true, 'bench', '')`
        times.push(performance.now() - from)
      }
      const [p50Ms = Number.NaN, p99Ms = Number.NaN] = percentiles(times, [0.5, 0.99])
      return { p50Ms, p99Ms }
    },
  }
}
