import assert from 'node:assert/strict'
import { isAlive } from '../../packages/database/src/embedded/processes.ts'
import { waitUntil } from '../../packages/database/src/embedded/wait-until.ts'
import type { Exchange } from '../shared/exchange.ts'

export const RECOVERY_LIMIT_MS = 20_000

/** Restarts a killed service after the load has stopped. Returns the restart time in seconds. */
export async function restartService(exchange: Exchange, stopLoad: () => Promise<void>): Promise<number> {
  await exchange.current().end()
  await stopLoad()
  const started = performance.now()
  await exchange.start()
  return (performance.now() - started) / 1_000
}

/** Waits until the service has restarted its killed database under load. Returns the outage in seconds. */
export async function awaitDatabaseRestart(
  exchange: Exchange,
  strike: () => void,
  stopLoad: () => Promise<void>,
): Promise<number> {
  const served = exchange.current()
  const processes = [served.pid, ...served.workers()]
  const postmaster = exchange.postmaster()
  const killedAt = performance.now()
  strike()
  const isBack = () => exchange.postmaster() !== postmaster && exchange.databaseIsReady()
  assert.ok(await waitUntil(isBack, RECOVERY_LIMIT_MS), 'PostgreSQL was not restarted')
  const seconds = (performance.now() - killedAt) / 1_000
  await stopLoad()
  assert.ok(
    processes.every(isAlive),
    `the service must survive the loss of its database:\n${served.messages.join('\n')}`,
  )
  return seconds
}
