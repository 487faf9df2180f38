import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { signal } from '../../packages/database/src/embedded/processes.ts'
import { awaitDatabaseRestart, restartService } from './recovery.ts'
import { startExchange, type Exchange } from '../shared/exchange.ts'
import {
  checkAttempts,
  checkChains,
  checkStreams,
  checkTables,
  streamReader,
  type StreamReader,
} from '../shared/ledger-checks.ts'
import { startLoad, summarize, type Ledger } from '../shared/ledger.ts'
import type { Report, Trial } from './trial.ts'

const CYCLES = 20
const QUICK_CYCLES = 6
const LOAD = { clients: 6, attempts: 40 }
/** Minimum and maximum duration of the load before a kill. */
const EARLIEST_MS = 100
const LATEST_MS = 900

/** The processes to kill in turn. */
const VICTIMS = ['service', 'PostgreSQL', 'both', 'PostgreSQL, then service'] as const
type Victim = (typeof VICTIMS)[number]

export const killCycles: Trial = {
  name: 'kill-cycles',
  what: '[PKG-04][API-04][EVT-01][EVT-04][AUD-03] kill -9 of service, PostgreSQL and both under load loses no package answered with 202',
  async run(report) {
    await using exchange = await startExchange()
    const [seats, wheels, cars] = await Promise.all(
      ['seats', 'wheels', 'cars'].map((name) => exchange.organization(name)),
    )
    assert.ok(seats && wheels && cars)
    const pairs = [
      [seats, cars],
      [wheels, cars],
      [cars, seats],
    ] as const
    const readers = new Map([seats, wheels, cars].map((each) => [each, streamReader(each)]))
    const ledger: Ledger = []

    const cycles = report.quick ? QUICK_CYCLES : CYCLES
    for (let cycle = 0; cycle < cycles; cycle++) {
      const before = ledger.length
      const load = startLoad(ledger, { ...LOAD, pairs })
      await sleep(EARLIEST_MS + Math.random() * (LATEST_MS - EARLIEST_MS))
      const victim = VICTIMS[cycle % VICTIMS.length] ?? 'both'
      const seconds = await killAndRecover(exchange, victim, load.stop)
      const mine = ledger.slice(before)
      const answered = mine.filter(({ answer }) => answer !== undefined).length
      const failures = summarize(mine)
      await checkAttempts(mine)
      await follow(readers, ledger)
      await checkChains(mine)
      report.line(
        `${cycle + 1}/${cycles} ${victim}: recovered after ${seconds.toFixed(1)} s; ${mine.length} sent, ` +
          `${answered} answered before the kill; failures: ${failures}`,
      )
    }
    await checkAttempts(ledger)
    await checkTables(exchange, ledger)
    report.line(`all ${ledger.length} packages exist once, with content, events and evidence`)
    await terminate(exchange, ledger, pairs, report)
  },
}

async function killAndRecover(
  exchange: Exchange,
  victim: Victim,
  stopLoad: () => Promise<void>,
): Promise<number> {
  const { pid } = exchange.current()
  const killDatabase = () => signal(exchange.postmaster(), 'SIGKILL')
  if (victim === 'PostgreSQL') return awaitDatabaseRestart(exchange, killDatabase, stopLoad)
  if (victim !== 'service') killDatabase()
  if (victim === 'PostgreSQL, then service') await sleep(Math.random() * 400)
  signal(pid, 'SIGKILL')
  return restartService(exchange, stopLoad)
}

async function follow(readers: ReadonlyMap<unknown, StreamReader>, ledger: Ledger): Promise<void> {
  await Promise.all([...readers.values()].map((reader) => reader.read()))
  checkStreams(ledger, readers as Parameters<typeof checkStreams>[1])
}

/** SIGTERM under load: exit code 0, no process left, no answered package lost. */
async function terminate(
  exchange: Exchange,
  ledger: Ledger,
  pairs: Parameters<typeof startLoad>[1]['pairs'],
  report: Report,
): Promise<void> {
  const before = ledger.length
  const load = startLoad(ledger, { ...LOAD, pairs })
  await sleep(EARLIEST_MS * 3)
  const signalledAt = performance.now()
  exchange.current().kill('SIGTERM')
  assert.equal(await exchange.current().end(), 0, exchange.current().messages.join('\n'))
  const seconds = (performance.now() - signalledAt) / 1_000
  await load.stop()
  assert.deepEqual(exchange.databaseProcesses(), [], 'SIGTERM must leave no child process')
  assert.ok(
    !existsSync(join(exchange.dataDirectory, 'lock')),
    'the lock of the data directory must be released',
  )
  const mine = ledger.slice(before)
  const failures = summarize(mine)
  await exchange.start()
  await checkAttempts(mine)
  await checkTables(exchange, ledger)
  report.line(
    `SIGTERM under load: exit 0 after ${seconds.toFixed(1)} s, no process left; failures: ${failures}`,
  )
}
