import type { Logger } from 'pino'
import { type Database, loggableError } from '@agent-exchange/database'
import { freeNames } from '../../kernel/named-locks.ts'
import { otherWorkers } from '../queue/claim-store.ts'
import { CHECKS_SKIPPED_AFTER_LOSS, WORKER_CHECK_MS } from './webhook-limits.ts'
import { type ReclaimedWork, reclaimFromDeadWorker, type ReclaimTools } from './reclaim.ts'

export interface WorkerWatch extends AsyncDisposable {
  /** Call when this worker lost its own connection: the others may have lost theirs too and need time to reconnect. */
  pause(): void
}

interface WatchSettings {
  readonly db: Database
  readonly worker: string
  readonly tools: ReclaimTools
  readonly log: Logger
  /** Receives the number of live workers that hold claims. */
  readonly onCounted: (others: number) => void
  readonly onReclaimed: (work: readonly ReclaimedWork[]) => void
}

/**
 * Detects dead workers by their session locks and reclaims their deliveries. A slow worker keeps its lock; a worker that
 * lost its connection has until the second check to acquire the lock again.
 */
export function watchWorkers(settings: WatchSettings): WorkerWatch {
  const { db, worker, tools, log, onCounted, onReclaimed } = settings
  let suspects: readonly string[] = []
  let skips = 0
  let running: Promise<void> | undefined

  async function checkWorkers(): Promise<void> {
    const others = await otherWorkers(db, worker)
    const free = others.length === 0 ? [] : await freeNames(db, 'worker', others)
    const dead = free.filter((each) => suspects.includes(each))
    suspects = free
    onCounted(others.length - dead.length)
    for (const each of dead) {
      const reclaimed = await reclaimFromDeadWorker(db, each, tools, log)
      if (reclaimed.length === 0) continue
      log.warn({ worker: each, deliveries: reclaimed.length }, 'reclaimed the deliveries of a dead worker')
      onReclaimed(reclaimed)
    }
  }

  const timer = setInterval(() => {
    if (skips > 0) skips--
    else {
      running ??= checkWorkers()
        .catch((error: unknown) => log.error({ err: loggableError(error) }, 'worker check failed'))
        .finally(() => (running = undefined))
    }
  }, WORKER_CHECK_MS)

  return {
    pause() {
      suspects = []
      skips = CHECKS_SKIPPED_AFTER_LOSS
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await running
    },
  }
}
