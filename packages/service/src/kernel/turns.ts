import type { Clock } from '@agent-exchange/server/clock'
import { createFairQueue } from './fair-queue.ts'
import { Problem } from './problem.ts'

/** Requests of one holder, and of all, that may wait for a turn. */
const MAXIMUM_WAITING = 1_024
const MAXIMUM_WAITING_IN_ALL = 8_192

/**
 * Shares the event loop between organizations. In each of its turns, synchronous work begins for a few milliseconds; what
 * is left waits for the next turn, and organizations are served one after the other.
 */
export interface Turns {
  /** Starts the work at once if this turn has time left. Its synchronous beginning counts. */
  run<T>(holder: string, work: () => Promise<T>): Promise<T>
  /** For long work: resolves when the holder may continue, after others had their turn. */
  pause(holder: string): Promise<void>
}

interface Waiting {
  readonly start: () => void
  /** What it continues takes about a whole turn. */
  readonly isLong: boolean
}

export interface TurnOptions {
  /** Time of one turn in which work may begin. */
  readonly milliseconds: number
  readonly clock: Pick<Clock, 'monotonicMilliseconds'>
}

export function createTurns({ milliseconds, clock }: TurnOptions): Turns {
  const queue = createFairQueue<Waiting>()
  let spent = 0
  let willTurn = false

  function start(waiting: Waiting): void {
    const from = clock.monotonicMilliseconds()
    waiting.start()
    spent += waiting.isLong ? milliseconds : clock.monotonicMilliseconds() - from
  }

  function turnSoon(): void {
    if (willTurn) return
    willTurn = true
    setImmediate(() => {
      willTurn = false
      spent = 0
      while (spent < milliseconds) {
        const next = queue.shift()
        if (!next) return
        start(next)
      }
      turnSoon()
    })
  }

  function wait(holder: string, waiting: Waiting): void {
    if (queue.sizeOf(holder) >= MAXIMUM_WAITING) throw new Problem('rate_limited', { retry_after_seconds: 1 })
    if (queue.size() >= MAXIMUM_WAITING_IN_ALL)
      throw new Problem('service_overloaded', { retry_after_seconds: 1 })
    queue.push(holder, waiting)
    turnSoon()
  }

  return {
    run: (holder, work) =>
      new Promise((resolve, reject) => {
        const waiting = { start: () => work().then(resolve, reject), isLong: false }
        // Once anybody waits, nobody overtakes.
        if (queue.size() > 0 || spent >= milliseconds) return wait(holder, waiting)
        start(waiting)
        turnSoon()
      }),
    pause: (holder) => new Promise((resolve) => wait(holder, { start: resolve, isLong: true })),
  }
}
