import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, signal } from '../src/db/embedded/processes.ts'
import { waitUntil } from '../src/db/embedded/wait-until.ts'
import { BACK_LIMIT_MS, databaseBack, serviceBack } from './back-again.ts'
import { startExchange, type Exchange } from './exchange.ts'
import { CLIENTS, fillStock, openMarket, RECEIVERS, startFullLoad, type Market } from './full-load.ts'
import {
  checkAnswered,
  checkAttempts,
  checkChains,
  checkStreams,
  checkTables,
  each,
  streamReader,
} from './ledger-checks.ts'
import { summarize } from './ledger.ts'
import type { Report, Trial } from './trial.ts'

/** Packages that wait when the clients start. */
const STOCK = { full: CLIENTS * 12, quick: CLIENTS * 4 }
const ROUNDS = 3
const SCRAPE_LIMIT_MS = 5_000
const POLL_MS = 50
/** Of the embedded PostgreSQL, by default. */
const DURABLE = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' }

type Victim =
  | 'service'
  | 'first process'
  | 'one worker'
  | 'PostgreSQL with all its sessions'
  | 'PostgreSQL by immediate stop'

/** For each value of AEX_WORKERS that is tried: who is killed, in turns, and how many of them by a quick run. */
const PLAN: readonly { readonly workers: number; readonly victims: readonly Victim[]; quick: number }[] = [
  {
    workers: 1,
    victims: ['service', 'PostgreSQL with all its sessions', 'PostgreSQL by immediate stop'],
    quick: 2,
  },
  {
    workers: 2,
    victims: [
      'service',
      'PostgreSQL by immediate stop',
      'first process',
      'one worker',
      'PostgreSQL with all its sessions',
    ],
    quick: 2,
  },
]

export const killAtFullLoad: Trial = {
  name: 'kill-at-full-load',
  what: "[PKG-04][API-04][EVT-01][EVT-04][AUD-03] kill -9 in the benchmark's own configuration, with one process and with two, loses no 202",
  async run(report) {
    await using exchange = await startExchange()
    await checkSettings(exchange)
    const market = await openMarket(exchange, report.quick ? RECEIVERS.quick : RECEIVERS.full)
    report.line(`${CLIENTS} clients, ${market.receivers.length} receiving organizations, default settings`)
    for (const { workers, victims, quick } of PLAN) {
      if (workers > 1) await restartWith(exchange, workers)
      const rounds = report.quick
        ? victims.slice(0, quick)
        : Array.from({ length: ROUNDS }, () => victims).flat()
      for (const victim of rounds) await cycle({ exchange, market, workers, victim, report })
    }
    await checkLedger(exchange, market, report)
  },
}

interface Cycle {
  readonly exchange: Exchange
  readonly market: Market
  readonly workers: number
  readonly victim: Victim
  readonly report: Report
}

async function cycle({ exchange, market, workers, victim, report }: Cycle): Promise<void> {
  const { ledger, stock } = market
  const bytes = await fillStock(market, report.quick ? STOCK.quick : STOCK.full)
  if (workers > 1) await allWorkersAnswer(exchange)
  const before = ledger.length
  const load = startFullLoad(market)
  // Whenever that is, everybody is sending and somebody still has something to send.
  await load.answers(randomInt(CLIENTS, stock.length - CLIENTS))
  assert.ok(stock.length > 0)
  const underWay = load.underWay()
  const seconds = await strike(exchange, victim, load.stop)
  const mine = ledger.slice(before)
  const troubles = summarize(mine)
  const kept = await checkAnswered(exchange, mine)
  await checkAttempts(mine)
  report.line(
    `AEX_WORKERS=${workers}, ${victim}: ${underWay} packages of ${bytes} bytes were under way; back after ` +
      `${seconds.toFixed(1)} s; ${mine.length} sent, ${kept} answered and kept; troubles: ${troubles}`,
  )
}

/** Kills, waits for the end of the load and for the exchange to be back. Returns the seconds without it. */
async function strike(exchange: Exchange, victim: Victim, stopLoad: () => Promise<void>): Promise<number> {
  const served = exchange.current()
  const workers = served.workers()
  if (victim === 'one worker') return workerBack(exchange, workers, stopLoad)
  if (victim === 'PostgreSQL by immediate stop')
    return databaseBack(exchange, () => signal(exchange.postmaster(), 'SIGQUIT'), stopLoad)
  if (victim === 'PostgreSQL with all its sessions') {
    // Each session is a process group of its own: a signal to the server's would leave them.
    const killDatabase = () => killAll([exchange.postmaster(), ...exchange.databaseProcesses()])
    return databaseBack(exchange, killDatabase, stopLoad)
  }
  killAll(victim === 'service' ? [served.pid, ...workers] : [served.pid])
  const seconds = await serviceBack(exchange, stopLoad)
  const areGone = () => !workers.some(isAlive)
  assert.ok(await waitUntil(areGone, BACK_LIMIT_MS), 'workers end without their first process')
  return seconds
}

const killAll = (pids: readonly number[]) => pids.forEach((pid) => signal(pid, 'SIGKILL'))

/** The other one goes on, and the first process brings another. */
async function workerBack(
  exchange: Exchange,
  [victim, ...others]: readonly number[],
  stopLoad: () => Promise<void>,
): Promise<number> {
  assert.ok(victim !== undefined && others.length > 0, 'there is more than one worker')
  const struck = performance.now()
  signal(victim, 'SIGKILL')
  await allWorkersAnswer(exchange)
  const seconds = (performance.now() - struck) / 1_000
  await stopLoad()
  assert.ok(!exchange.current().workers().includes(victim))
  return seconds
}

async function restartWith(exchange: Exchange, workers: number): Promise<void> {
  exchange.current().kill('SIGTERM')
  assert.equal(await exchange.current().end(), 0, exchange.current().said.join('\n'))
  await exchange.start({ AEX_WORKERS: String(workers) })
}

/** Ready is the first process when its first worker is; only the metrics speak for all of them. */
async function allWorkersAnswer({ operatorUrl }: Exchange): Promise<void> {
  for (let waited = 0; waited < BACK_LIMIT_MS; waited += POLL_MS) {
    // A connection may be given to a worker that has just died.
    const patience = { signal: AbortSignal.timeout(SCRAPE_LIMIT_MS) }
    const metrics = await fetch(`${operatorUrl}/metrics`, patience).then(
      (answer) => answer.text(),
      () => '',
    )
    if (/^aex_workers_unanswered 0$/mu.test(metrics)) return
    await sleep(POLL_MS)
  }
  assert.fail('some workers do not answer')
}

async function checkSettings({ sql }: Exchange): Promise<void> {
  const rows = await sql<{ name: string; setting: string }[]>`
    select name, setting from pg_settings where name = any(${Object.keys(DURABLE)})`
  assert.deepEqual(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])), DURABLE)
}

/** Everything that was ever sent: once, with content, in streams without gap and in unbroken chains. */
async function checkLedger(exchange: Exchange, market: Market, report: Report): Promise<void> {
  const { senders, receivers, ledger, stock } = market
  // What was prepared and never sent is as good as any request that was lost on its way.
  await checkAttempts(stock)
  ledger.push(...stock.splice(0))
  const readers = new Map([...senders, ...receivers].map((party) => [party, streamReader(party)]))
  await each([...readers.values()], (reader) => reader.read())
  checkStreams(ledger, readers)
  const entries = await checkChains(ledger)
  await checkTables(exchange, ledger)
  report.line(
    `all ${ledger.length} packages are there, once, with content; ${readers.size} streams without gap, ` +
      `${entries} entries of evidence in unbroken chains`,
  )
}
