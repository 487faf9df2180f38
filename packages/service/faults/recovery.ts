import assert from 'node:assert/strict'
import { isAlive } from '../src/db/embedded/processes.ts'
import { waitUntil } from '../src/db/embedded/wait-until.ts'
import type { Exchange } from './exchange.ts'

export const BACK_LIMIT_MS = 20_000

/** The service was killed: it ends, the load too, and it is started again. Returns the seconds that this took. */
export async function serviceBack(exchange: Exchange, stopLoad: () => Promise<void>): Promise<number> {
  await exchange.current().end()
  await stopLoad()
  const started = performance.now()
  await exchange.start()
  return (performance.now() - started) / 1_000
}

/** The service brings its database back by itself, under load. Returns the seconds without one. */
export async function databaseBack(
  exchange: Exchange,
  strike: () => void,
  stopLoad: () => Promise<void>,
): Promise<number> {
  const served = exchange.current()
  const processes = [served.pid, ...served.workers()]
  const postmaster = exchange.postmaster()
  const struck = performance.now()
  strike()
  const isBack = () => exchange.postmaster() !== postmaster && exchange.databaseIsReady()
  assert.ok(await waitUntil(isBack, BACK_LIMIT_MS), 'PostgreSQL was not started again')
  const seconds = (performance.now() - struck) / 1_000
  await stopLoad()
  assert.ok(processes.every(isAlive), `the service outlives its database:\n${served.said.join('\n')}`)
  return seconds
}
