import type { Logger } from 'pino'
import type { Database } from '../db/database.ts'
import { freeNames } from '../db/locks.ts'
import { loggableError } from '../db/loggable-error.ts'
import { otherWorkers } from './claim-store.ts'
import { WATCHES_AFTER_LOSS, WORKER_WATCH_MS } from './limits.ts'
import { type ReturnedWork, takeBackFrom, type TakeBackTools } from './take-back.ts'

export interface WorkerWatch extends AsyncDisposable {
  /** This worker's own connection was lost: those of the others may have been too, and get time to come back. */
  pause(): void
}

interface WatchSettings {
  readonly db: Database
  readonly worker: string
  readonly tools: TakeBackTools
  readonly log: Logger
  /** How many other workers have claims. */
  readonly onCounted: (others: number) => void
  readonly onReturned: (work: readonly ReturnedWork[]) => void
}

/**
 * Notices within a second that another worker died, by its session lock: a slow one keeps it, and one whose connection
 * was cut has until the second look to take it again. What a dead worker had claimed is taken back.
 */
export function watchWorkers(settings: WatchSettings): WorkerWatch {
  const { db, worker, tools, log, onCounted, onReturned } = settings
  let suspects: readonly string[] = []
  let skips = 0
  let running: Promise<void> | undefined

  async function look(): Promise<void> {
    const others = await otherWorkers(db, worker)
    const free = others.length === 0 ? [] : await freeNames(db, 'worker', others)
    const dead = free.filter((each) => suspects.includes(each))
    suspects = free
    onCounted(others.length - dead.length)
    for (const each of dead) {
      const returned = await takeBackFrom(db, each, tools, log)
      if (returned.length === 0) continue
      log.warn(
        { worker: each, deliveries: returned.length },
        'a delivery worker died; its deliveries were taken back',
      )
      onReturned(returned)
    }
  }

  const timer = setInterval(() => {
    if (skips > 0) skips--
    else {
      running ??= look()
        .catch((error: unknown) =>
          log.error({ err: loggableError(error) }, 'the other workers could not be watched'),
        )
        .finally(() => (running = undefined))
    }
  }, WORKER_WATCH_MS)

  return {
    pause() {
      suspects = []
      skips = WATCHES_AFTER_LOSS
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await running
    },
  }
}
