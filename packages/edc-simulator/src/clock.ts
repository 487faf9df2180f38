import type { ConnectorClock } from '@agent-exchange/edc'

/** Drives the simulated state machines. */
export interface SimulatorClock {
  now(): number
  /** Does something at every step of time, until the returned function is called. */
  every(ms: number, work: () => Promise<void>): () => void
}

/** Real time: for demonstrations. */
export const realTime: SimulatorClock = {
  now: () => Date.now(),
  every: (ms, work) => {
    let busy = false
    const timer = setInterval(() => {
      if (busy) return
      busy = true
      void work().finally(() => {
        busy = false
      })
    }, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
}

/**
 * A clock that only tests advance. A connector with the same clock advances it by its waits, so that minutes pass in
 * milliseconds and no state is skipped.
 *
 * @example
 * const clock = new MovableClock()
 * await using simulator = await startSimulator({ clock, participants })
 * const connector = new EdcV3Connector({ ...options, clock })
 * await clock.advance(60_000)
 */
export class MovableClock implements SimulatorClock, ConnectorClock {
  #time: number
  #moving: Promise<void> = Promise.resolve()
  readonly #steps = new Set<{ next: number; readonly ms: number; readonly work: () => Promise<void> }>()

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#time = start
  }

  now(): number {
    return this.#time
  }

  every(ms: number, work: () => Promise<void>): () => void {
    const step = { next: this.#time + ms, ms, work }
    this.#steps.add(step)
    return () => this.#steps.delete(step)
  }

  /** Advances the clock. Resolves when all due work is done. */
  advance(ms: number): Promise<void> {
    this.#moving = this.#moving.then(() => this.#move(ms))
    return this.#moving
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (!signal.aborted) await this.advance(ms)
  }

  async #move(ms: number): Promise<void> {
    const end = this.#time + ms
    for (;;) {
      const due = [...this.#steps].filter(({ next }) => next <= end).toSorted((a, b) => a.next - b.next)[0]
      if (!due) break
      this.#time = Math.max(this.#time, due.next)
      due.next += due.ms
      await due.work()
    }
    this.#time = end
  }
}
