import type { Clock } from '@agent-exchange/service'

/** A clock that is stopped until it is moved. */
export interface MovableClock extends Clock {
  advance(seconds: number): void
  set(time: string): void
}

export function movableClock(start: string): MovableClock {
  let now = Date.parse(start)
  return {
    now: () => new Date(now).toISOString(),
    monotonicMilliseconds: () => now,
    advance(seconds) {
      now += seconds * 1_000
    },
    set(time) {
      now = Date.parse(time)
    },
  }
}

/** A clock that runs with the system clock and can be moved ahead of it. */
export function runningClock(): MovableClock {
  let ahead = 0
  return {
    now: () => new Date(Date.now() + ahead).toISOString(),
    monotonicMilliseconds: () => performance.now() + ahead,
    advance(seconds) {
      ahead += seconds * 1_000
    },
    set(time) {
      ahead = Date.parse(time) - Date.now()
    },
  }
}
