import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, signal } from '../../packages/database/src/embedded/processes.ts'
import { waitUntil } from '../../packages/database/src/embedded/wait-until.ts'
import { RECOVERY_LIMIT_MS, awaitDatabaseRestart, restartService } from './recovery.ts'
import { startExchange, type Exchange } from '../shared/exchange.ts'
import { CLIENTS } from '../../bench/src/exchange/market.ts'
import { fillStock, openMarket, RECEIVERS, startFullLoad, type Market } from './full-load.ts'
import { checkAnswered, checkAttempts, checkWhole } from '../shared/ledger-checks.ts'
import { summarize } from '../shared/ledger.ts'
import type { Report, Trial } from './trial.ts'

/** Packages in stock when the clients start. */
const STOCK = { full: CLIENTS * 12, quick: CLIENTS * 4 }
const ROUNDS = 3
const SCRAPE_LIMIT_MS = 5_000
const POLL_MS = 50
/** Defaults of the embedded PostgreSQL. */
const DURABLE = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' }

type Victim =
  | 'service'
  | 'first process'
  | 'one worker'
  | 'PostgreSQL with all its sessions'
  | 'PostgreSQL by immediate stop'

/** The processes to kill in turn for each value of AEX_WORKERS, and how many of them in a quick run. */
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
  what: '[PKG-04][API-04][EVT-01][EVT-04][AUD-03] kill -9 under the load of the benchmark, with one and two processes, loses no package answered with 202',
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
  // At this point every client is sending and the stock is not empty.
  await load.answers(randomInt(CLIENTS, stock.length - CLIENTS))
  assert.ok(stock.length > 0)
  const inFlight = load.inFlight()
  const seconds = await killAndRecover(exchange, victim, load.stop)
  const mine = ledger.slice(before)
  const failures = summarize(mine)
  const stored = await checkAnswered(exchange, mine)
  await checkAttempts(mine)
  report.line(
    `AEX_WORKERS=${workers}, ${victim}: ${inFlight} packages of ${bytes} bytes in flight; recovered after ` +
      `${seconds.toFixed(1)} s; ${mine.length} sent, ${stored} answered and stored; failures: ${failures}`,
  )
}

/** Kills the victim, stops the load and waits for recovery. Returns the outage in seconds. */
async function killAndRecover(
  exchange: Exchange,
  victim: Victim,
  stopLoad: () => Promise<void>,
): Promise<number> {
  const served = exchange.current()
  const workers = served.workers()
  if (victim === 'one worker') return awaitWorkerRestart(exchange, workers, stopLoad)
  if (victim === 'PostgreSQL by immediate stop')
    return awaitDatabaseRestart(exchange, () => signal(exchange.postmaster(), 'SIGQUIT'), stopLoad)
  if (victim === 'PostgreSQL with all its sessions') {
    // Each session has its own process group, so a signal to that of the postmaster would not reach it.
    const killDatabase = () => killAll([exchange.postmaster(), ...exchange.databaseProcesses()])
    return awaitDatabaseRestart(exchange, killDatabase, stopLoad)
  }
  killAll(victim === 'service' ? [served.pid, ...workers] : [served.pid])
  const seconds = await restartService(exchange, stopLoad)
  const areGone = () => !workers.some(isAlive)
  assert.ok(await waitUntil(areGone, RECOVERY_LIMIT_MS), 'workers must end without their primary process')
  return seconds
}

const killAll = (pids: readonly number[]) => pids.forEach((pid) => signal(pid, 'SIGKILL'))

/** The other workers continue, and the primary process starts a new one. */
async function awaitWorkerRestart(
  exchange: Exchange,
  [victim, ...others]: readonly number[],
  stopLoad: () => Promise<void>,
): Promise<number> {
  assert.ok(victim !== undefined && others.length > 0, 'more than one worker is needed')
  const killedAt = performance.now()
  signal(victim, 'SIGKILL')
  await allWorkersAnswer(exchange)
  const seconds = (performance.now() - killedAt) / 1_000
  await stopLoad()
  assert.ok(!exchange.current().workers().includes(victim))
  return seconds
}

async function restartWith(exchange: Exchange, workers: number): Promise<void> {
  exchange.current().kill('SIGTERM')
  assert.equal(await exchange.current().end(), 0, exchange.current().messages.join('\n'))
  await exchange.start({ AEX_WORKERS: String(workers) })
}

/** `/readyz` needs only one ready worker; the metrics cover all of them. */
async function allWorkersAnswer({ operatorUrl }: Exchange): Promise<void> {
  for (let waited = 0; waited < RECOVERY_LIMIT_MS; waited += POLL_MS) {
    // The connection may go to a worker that has just died.
    const options = { signal: AbortSignal.timeout(SCRAPE_LIMIT_MS) }
    const metrics = await fetch(`${operatorUrl}/metrics`, options).then(
      (answer) => answer.text(),
      () => '',
    )
    if (/^aex_workers_unanswered 0$/mu.test(metrics)) return
    await sleep(POLL_MS)
  }
  assert.fail('some workers do not respond')
}

async function checkSettings({ sql }: Exchange): Promise<void> {
  const rows = await sql<{ name: string; setting: string }[]>`
    select name, setting from pg_settings where name = any(${Object.keys(DURABLE)})`
  assert.deepEqual(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])), DURABLE)
}

/** Checks that every package exists once, with content, in gapless streams and unbroken chains. */
async function checkLedger(exchange: Exchange, market: Market, report: Report): Promise<void> {
  const { senders, receivers, ledger, stock } = market
  // An unsent package is equivalent to a request that was lost on its way.
  await checkAttempts(stock)
  ledger.push(...stock.splice(0))
  const { streams, entries } = await checkWhole(exchange, ledger, [...senders, ...receivers])
  report.line(
    `all ${ledger.length} packages exist once, with content; ${streams} gapless streams, ` +
      `${entries} evidence entries in unbroken chains`,
  )
}
