import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import {
  type Database,
  inTransaction,
  isUnavailable,
  loggableError,
  sqlState,
} from '@agent-exchange/database'
import { withinTime } from '@agent-exchange/server/within-time'
import {
  type FinishedClaims,
  hasSideEffects,
  isLastAttempt,
  recordAttempts,
  recordWithSideEffects,
} from '../queue/attempt-record.ts'
import type { FinishedAttempt } from '../queue/finished-attempt.ts'
import {
  BATCHING_THRESHOLD,
  RESULT_BATCH_DELAY_MS,
  RESULT_BATCH_SIZE,
  RECORDING_RETRY_MS,
} from './webhook-limits.ts'

/** A SQLSTATE has exactly five characters; most other codes are longer. */
const SQL_STATE = /^[0-9A-Z]{5}$/

interface RecorderHooks {
  readonly inFlight: () => number
  /** The result is in the database, or was dropped because its claim was reclaimed. */
  readonly onSettled: (finished: FinishedAttempt) => void
  /** The result is in the database. */
  readonly onRecorded: (finished: FinishedAttempt) => void
  /** Claims of this worker without unfinished deliveries, to be removed by the statement that records results. */
  readonly takeFinishedClaims: () => FinishedClaims
  /** That statement failed. */
  readonly returnFinishedClaims: (claims: FinishedClaims) => void
  /** The database rejects this result. */
  readonly onRefused: (finished: FinishedAttempt) => void
}

export interface Recorder {
  add(finished: FinishedAttempt): void
  /** The number of results that are not in the database yet. */
  waiting(): number
  /** Waits until all results are written, for a limited time. Returns the number of results that are not. */
  finish(limitMs: number): Promise<number>
}

/**
 * Writes results in batches: results that arrive during one statement form the next batch. They wait while the database
 * is unavailable; if this process ends before that, their attempts count as lost.
 */
export function createRecorder(
  db: Database,
  log: Logger,
  { inFlight, onSettled, onRecorded, onRefused, ...hooks }: RecorderHooks,
): Recorder {
  const queue: FinishedAttempt[] = []
  let writing = 0
  let running: Promise<void> | undefined
  let hasGivenUp = false

  async function run(): Promise<void> {
    while (queue.length > 0 && !hasGivenUp) {
      if (queue.length < RESULT_BATCH_SIZE && inFlight() >= BATCHING_THRESHOLD)
        await sleep(RESULT_BATCH_DELAY_MS)
      const batch = queue.splice(0, RESULT_BATCH_SIZE)
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
    const written = batch.some(hasSideEffects)
      ? await inTransaction(db, (tx) => recordWithSideEffects(tx, batch))
      : await recordSuccesses(batch)
    for (const each of batch) {
      if (written.has(each.deliveryId)) onRecorded(each)
      else {
        const { deliveryId: delivery_id, attempt, verdict } = each
        log.warn(
          { delivery_id, attempt, outcome: verdict.outcome },
          'dropped a delivery result because its claim was reclaimed',
        )
      }
      onSettled(each)
    }
  }

  async function recordSuccesses(batch: readonly FinishedAttempt[]): Promise<ReadonlySet<string>> {
    const finishedClaims = hooks.takeFinishedClaims()
    try {
      return await recordAttempts(db, batch, { finishedClaims, isFlushed: batch.some(isLastAttempt) })
    } catch (error) {
      hooks.returnFinishedClaims(finishedClaims)
      throw error
    }
  }

  /** A rejected result must not block the others, so each is retried alone. An unavailable database is waited for. */
  async function afterFailure(batch: readonly FinishedAttempt[], error: unknown): Promise<void> {
    const isRefused = SQL_STATE.test(sqlState(error) ?? '') && !isUnavailable(error)
    log.error({ err: loggableError(error), results: batch.length }, 'writing delivery results failed')
    if (isRefused && batch.length > 1) {
      for (const each of batch) await write([each]).catch((single: unknown) => afterFailure([each], single))
    } else if (isRefused) batch.forEach(onRefused)
    else {
      queue.unshift(...batch)
      writing = 0
      await sleep(RECORDING_RETRY_MS)
    }
  }

  function start(): void {
    running ??= run().finally(() => {
      running = undefined
      if (queue.length > 0 && !hasGivenUp) start()
    })
  }

  async function idle(): Promise<void> {
    while (running) await running
  }

  return {
    add(finished) {
      queue.push(finished)
      start()
    },
    waiting: () => queue.length + writing,
    async finish(limitMs) {
      await withinTime(idle(), limitMs)
      hasGivenUp = true
      return queue.length + writing
    },
  }
}
