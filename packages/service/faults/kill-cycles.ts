import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { signal } from '../src/db/embedded/processes.ts'
import { databaseBack, serviceBack } from './back-again.ts'
import { startExchange, type Exchange } from './exchange.ts'
import {
  checkAttempts,
  checkChains,
  checkStreams,
  checkTables,
  streamReader,
  type StreamReader,
} from './ledger-checks.ts'
import { startLoad, summarize, type Ledger } from './ledger.ts'
import type { Report, Trial } from './trial.ts'

const CYCLES = 20
const QUICK_CYCLES = 6
const LOAD = { clients: 6, attempts: 40 }
/** Load runs this long before the kill, at least and at most. */
const EARLIEST_MS = 100
const LATEST_MS = 900

/** Who is killed, in turns. */
const VICTIMS = ['service', 'PostgreSQL', 'both', 'PostgreSQL, then service'] as const
type Victim = (typeof VICTIMS)[number]

export const killCycles: Trial = {
  name: 'kill-cycles',
  what: '[PKG-04][API-04][EVT-01][EVT-04][AUD-03] kill -9 of service, PostgreSQL and both under load loses no 202',
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
      const seconds = await strike(exchange, victim, load.stop)
      const mine = ledger.slice(before)
      const answered = mine.filter(({ answer }) => answer !== undefined).length
      const troubles = summarize(mine)
      await checkAttempts(mine)
      await follow(readers, ledger)
      await checkChains(mine)
      report.line(
        `${cycle + 1}/${cycles} ${victim}: back after ${seconds.toFixed(1)} s; ${mine.length} sent, ` +
          `${answered} answered before; troubles: ${troubles}`,
      )
    }
    await checkAttempts(ledger)
    await checkTables(exchange, ledger)
    report.line(`all ${ledger.length} packages are there, once, with content, events and evidence`)
    await terminate(exchange, ledger, pairs, report)
  },
}

async function strike(exchange: Exchange, victim: Victim, stopLoad: () => Promise<void>): Promise<number> {
  const { pid } = exchange.current()
  const killDatabase = () => signal(exchange.postmaster(), 'SIGKILL')
  if (victim === 'PostgreSQL') return databaseBack(exchange, killDatabase, stopLoad)
  if (victim !== 'service') killDatabase()
  if (victim === 'PostgreSQL, then service') await sleep(Math.random() * 400)
  signal(pid, 'SIGKILL')
  return serviceBack(exchange, stopLoad)
}

async function follow(readers: ReadonlyMap<unknown, StreamReader>, ledger: Ledger): Promise<void> {
  await Promise.all([...readers.values()].map((reader) => reader.read()))
  checkStreams(ledger, readers as Parameters<typeof checkStreams>[1])
}

/** SIGTERM in the middle of load: exit 0, nothing left behind, nothing that was answered lost. */
async function terminate(
  exchange: Exchange,
  ledger: Ledger,
  pairs: Parameters<typeof startLoad>[1]['pairs'],
  report: Report,
): Promise<void> {
  const before = ledger.length
  const load = startLoad(ledger, { ...LOAD, pairs })
  await sleep(EARLIEST_MS * 3)
  const asked = performance.now()
  exchange.current().kill('SIGTERM')
  assert.equal(await exchange.current().end(), 0, exchange.current().said.join('\n'))
  const seconds = (performance.now() - asked) / 1_000
  await load.stop()
  assert.deepEqual(exchange.databaseProcesses(), [], 'SIGTERM leaves no child behind')
  assert.ok(!existsSync(join(exchange.dataDirectory, 'lock')), 'the data folder is free again')
  const mine = ledger.slice(before)
  const troubles = summarize(mine)
  await exchange.start()
  await checkAttempts(mine)
  await checkTables(exchange, ledger)
  report.line(
    `SIGTERM under load: exit 0 after ${seconds.toFixed(1)} s, no process left; troubles: ${troubles}`,
  )
}
