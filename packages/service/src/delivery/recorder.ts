import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database } from '../db/database.ts'
import { loggableError } from '../db/loggable-error.ts'
import { sqlState } from '../db/sql-state.ts'
import { inTransaction } from '../db/transaction.ts'
import {
  type FinishedAttempt,
  hasConsequences,
  recordAttempts,
  recordWithConsequences,
} from './attempt-record.ts'
import {
  GATHERING_FROM_IN_FLIGHT,
  GATHERING_RESULTS_MS,
  RECORDED_ROWS,
  RECORDING_PAUSE_MS,
} from './limits.ts'

/** SQLSTATE has five characters; the driver's own codes are words. */
const SQL_STATE = /^[0-9A-Z]{5}$/

interface RecorderHooks {
  readonly inFlight: () => number
  /** In the database, or dropped because its claim was taken back. */
  readonly onRecorded: (finished: FinishedAttempt) => void
  /** The database refuses it by itself. */
  readonly onRefused: (finished: FinishedAttempt) => void
}

export interface Recorder {
  add(finished: FinishedAttempt): void
  /** What is not in the database yet. */
  waiting(): number
  /** Resolves when all is written. */
  idle(): Promise<void>
}

/**
 * Writes results in batches: those that arrive while one statement is under way form the next. While the database is
 * away they wait; where this process ends before it comes back, they count as lost.
 */
export function createRecorder(
  db: Database,
  log: Logger,
  { inFlight, onRecorded, onRefused }: RecorderHooks,
): Recorder {
  const queue: FinishedAttempt[] = []
  let writing = 0
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (queue.length > 0) {
      if (queue.length < RECORDED_ROWS && inFlight() >= GATHERING_FROM_IN_FLIGHT)
        await sleep(GATHERING_RESULTS_MS)
      const batch = queue.splice(0, RECORDED_ROWS)
      writing = batch.length
      try {
        await write(batch)
      } catch (error) {
        await afterFailure(batch, error)
      }
      writing = 0
    }
  }

  async function write(batch: readonly FinishedAttempt[]): Promise<void> {
    const written = batch.some(hasConsequences)
      ? await inTransaction(db, (tx) => recordWithConsequences(tx, batch))
      : await recordAttempts(db, batch)
    for (const each of batch) {
      if (!written.has(each.deliveryId)) {
        const { deliveryId: delivery_id, attempt, verdict } = each
        log.warn(
          { delivery_id, attempt, outcome: verdict.outcome },
          'a result came after its claim was taken back, and is dropped',
        )
      }
      onRecorded(each)
    }
  }

  /** One that the database refuses must not hold up the others; a database that is away is waited for. */
  async function afterFailure(batch: readonly FinishedAttempt[], error: unknown): Promise<void> {
    const isRefused = SQL_STATE.test(sqlState(error) ?? '')
    log.error(
      { err: loggableError(error), results: batch.length },
      'results of deliveries could not be written',
    )
    if (isRefused && batch.length > 1) {
      for (const each of batch) await write([each]).catch((single: unknown) => afterFailure([each], single))
    } else if (isRefused) batch.forEach(onRefused)
    else {
      queue.unshift(...batch)
      await sleep(RECORDING_PAUSE_MS)
    }
  }

  function start(): void {
    running ??= run().finally(() => {
      running = undefined
      if (queue.length > 0) start()
    })
  }

  return {
    add(finished) {
      queue.push(finished)
      start()
    },
    waiting: () => queue.length + writing,
    async idle() {
      while (running) await running
    },
  }
}
