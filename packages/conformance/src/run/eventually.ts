import { setTimeout as sleep } from 'node:timers/promises'

/** Reads until the value fits or the time is over, and returns the last value. */
export type Eventually = <T>(read: () => Promise<T>, fits: (value: T) => boolean) => Promise<T>

const POLL_MS = 100

/** An honest service may do by itself, and a little later, what follows from an accepted request. */
export const eventuallyWithin =
  (patienceMs: number): Eventually =>
  async (read, fits) => {
    for (const end = Date.now() + patienceMs; ; await sleep(POLL_MS)) {
      const value = await read()
      if (fits(value) || Date.now() >= end) return value
    }
  }
