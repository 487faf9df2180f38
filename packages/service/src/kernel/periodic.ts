import type { Logger } from 'pino'

/** A task that runs now and then, never twice at once; its failure is logged and tried again next time. */
export interface PeriodicTask {
  readonly name: string
  readonly everySeconds: number
  /** Long work looks at the signal between its steps: it says that the process is about to end. */
  readonly run: (signal: AbortSignal) => Promise<unknown>
}

/** Starts the tasks; disposing of the result stops them and waits for those under way. */
export function startPeriodic(tasks: readonly PeriodicTask[], log: Logger): AsyncDisposable {
  const underWay = new Set<Promise<void>>()
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
          underWay.delete(done)
        })
      underWay.add(done)
    }
    return setInterval(tick, task.everySeconds * 1_000).unref()
  })
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      timers.forEach(clearInterval)
      await Promise.all(underWay)
    },
  }
}
