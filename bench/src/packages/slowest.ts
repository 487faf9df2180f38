import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { listOf, tableOf, type Table } from '../area.ts'
import { CLIENTS, type Market } from '../exchange/market.ts'
import { tokensFor } from '../exchange/parties.ts'
import { open } from '../exchange/postgres-server.ts'
import type { TestBed } from '../exchange/test-bed.ts'
import { enoughFor } from '../load/needed-packages.ts'
import { sharedNow } from '../processes/shared-clock.ts'
import { beyondUsual, explain, meanLength, slowestOf, type Explained } from '../stalls/explain-slowest.ts'
import type { Interval } from '../stalls/stall-recorder.ts'
import { stallProbed, stallsOf } from '../stalls/stalls-of.ts'
import { runLoad } from './run-load.ts'

const ACCEPTED = 202
const STOCK = 'spread'
const SPAN = { rampMs: 500, measureMs: 10_000 }
const WARM_UP = { clients: CLIENTS, rampMs: 0, measureMs: 20_000, packages: 10_000 }
const COMMIT_PAUSE_MS = 3
/** A commit that takes longer than usual by this factor has waited for something. */
const SLOW_COMMIT = 3

/** What happened while the slowest hundredth of the requests at this rate waited. In a process of its own, with a probe. */
export async function slowestAtRate(bed: TestBed, market: Market, perSecond: number): Promise<Table[]> {
  const { exchange, senders, load } = market
  const file = join(bed.folder.path, 'stalls')
  await using service = await exchange.serve('stalls', stallProbed(file))
  const tokens = tokensFor(senders, service)
  const source = { kind: 'stock', stock: STOCK } as const
  const server = { address: { url: service.url }, tokens, source, pid: service.pid }
  await runLoad({ load, postgres: bed.postgres }, server, WARM_UP)
  const target = { url: service.url, tokens: await tokens.fresh() }
  await load.call('fill', STOCK, enoughFor(perSecond, SPAN), target)
  await load.call('connect', target, CLIENTS)
  await stallsOf(service.pid, file)
  const serverBefore = await serverWork(bed, market)
  await using commits = probeCommits(bed, market)
  const outcome = await load.call('run', {
    ...SPAN,
    target,
    source,
    status: ACCEPTED,
    perSecond,
    isTimed: true,
  })
  const serverAfter = await serverWork(bed, market)
  const { blocked, collecting } = await stallsOf(service.pid, file)
  const slowest = slowestOf(outcome.timed)
  const causes = [
    { id: 'blocked', label: 'event loop of the service blocked', intervals: blocked },
    { id: 'collecting', label: '  garbage collection of the service', intervals: collecting },
    {
      id: 'commits',
      label: 'commit of an empty transaction slower than usual',
      intervals: beyondUsual(commits.intervals, SLOW_COMMIT),
    },
    {
      id: 'load_blocked',
      label: 'event loop of the load generator blocked',
      intervals: outcome.stalls?.blocked ?? [],
    },
  ]
  const whole: Explained = { milliseconds: meanLength(slowest), share: 1 }
  const table = tableOf<Explained>(
    `The slowest hundredth at half of the maximum: ${slowest.length} requests, and what happened meanwhile`,
    [
      { member: 'milliseconds', id: 'ms', head: 'ms of each' },
      { member: 'share', id: 'share', head: 'share with half of its time' },
    ],
    [
      { id: 'slowest', label: 'from due time to response', list: [whole] },
      ...causes.map((cause) => ({
        id: `slowest_${cause.id}`,
        label: cause.label,
        list: [explain(slowest, cause)],
      })),
    ],
  )
  const during = (member: keyof ServerWork) => [serverAfter[member] - serverBefore[member]]
  return [
    table,
    listOf(`PostgreSQL during these ${(SPAN.rampMs + SPAN.measureMs) / 1_000} s`, [
      [
        'slowest_wal_segments',
        'segments of the write-ahead log created; commits wait for each',
        during('segments'),
      ],
      ['slowest_checkpoints', 'checkpoints begun', during('checkpoints')],
    ]),
  ]
}

interface ServerWork {
  readonly segments: number
  readonly checkpoints: number
}

/** Since the server was initialized. */
async function serverWork(bed: TestBed, { exchange }: Market): Promise<ServerWork> {
  await using db = open(bed.postgres.asSuperuser(exchange.database), 1)
  const [row] = await db<ServerWork[]>`
    select
      (select sum(writes)::float8 from pg_stat_io where object = 'wal' and context = 'init') as segments,
      (select (num_timed + num_requested)::float8 from pg_stat_checkpointer) as checkpoints`
  if (!row) throw new Error('counters are always one row')
  return row
}

/** Commits one empty transaction after another on the same PostgreSQL, until it is disposed of. */
function probeCommits(
  bed: TestBed,
  { exchange }: Market,
): AsyncDisposable & { readonly intervals: Interval[] } {
  const intervals: Interval[] = []
  let isOver = false
  const run = async () => {
    await using db = open(bed.postgres.asSuperuser(exchange.database), 1)
    while (!isOver) {
      const from = sharedNow()
      // Without a WAL record, PostgreSQL would not wait for the flush of the commit.
      await db`select pg_logical_emit_message(true, 'bench', '')`
      intervals.push({ from, to: sharedNow() })
      await sleep(COMMIT_PAUSE_MS)
    }
  }
  const running = run()
  return {
    intervals,
    async [Symbol.asyncDispose]() {
      isOver = true
      await running
    },
  }
}
