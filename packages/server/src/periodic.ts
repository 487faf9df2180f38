import type { Logger } from 'pino'
import { withinTime } from './within-time.ts'

/** Tasks have this time to end at shutdown. They may be cut off at any moment, as by a crash. */
const STOP_LIMIT_MS = 10_000

/** A task that runs at an interval and never overlaps itself. A failure is logged; the next run tries again. */
export interface PeriodicTask {
  readonly name: string
  readonly everySeconds: number
  /** Whether the first run begins at once. Nothing waits for it, and its failure does not fail the start. */
  readonly atStart?: true
  /** Aborted at shutdown; long work checks it between steps. */
  readonly run: (signal: AbortSignal) => Promise<unknown>
}

/** Starts the tasks. Disposal stops them and waits for running ones, for a limited time. */
export function startPeriodic(
  tasks: readonly PeriodicTask[],
  log: Logger,
  stopLimitMs = STOP_LIMIT_MS,
): AsyncDisposable {
  const underWay = new Map<string, Promise<void>>()
  const stop = new AbortController()
  const timers = tasks.map((task) => {
    let isRunning = false
    const tick = () => {
      if (isRunning || stop.signal.aborted) return
      isRunning = true
      const done = task
        .run(stop.signal)
        .then(
          (result) => log.debug({ task: task.name, result }, 'periodic task done'),
          (error: unknown) => log.error({ task: task.name, err: error }, 'periodic task failed'),
        )
        .finally(() => {
          isRunning = false
          underWay.delete(task.name)
        })
      underWay.set(task.name, done)
    }
    if (task.atStart) tick()
    return setInterval(tick, task.everySeconds * 1_000).unref()
  })
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      timers.forEach(clearInterval)
      if (await withinTime(Promise.all(underWay.values()), stopLimitMs)) return
      log.warn({ tasks: [...underWay.keys()] }, 'stopped while periodic tasks were running')
    },
  }
}
