import type { Queries } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'

/** A smaller difference may be the time of the query. */
const TOLERANCE_MS = 2_000

export interface DatabaseClock extends Clock {
  /** Compares the clock of this machine with that of the database. Returns the difference that is corrected, in ms. */
  compare(db: Queries): Promise<number>
}

/**
 * The clock of this machine, corrected by that of the database where they differ: instances whose clocks are apart agree
 * about times, and one that is wrong refuses no webhook as too old.
 */
export function databaseClock(own: Clock): DatabaseClock {
  let ahead = 0
  return {
    now: () => (ahead === 0 ? own.now() : new Date(Date.parse(own.now()) + ahead).toISOString()),
    monotonicMilliseconds: () => own.monotonicMilliseconds(),
    async compare(db) {
      const before = Date.parse(own.now())
      const [row] = await db<{ now: number }[]>`
        select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`
      const difference = Math.round((row?.now ?? before) - (before + Date.parse(own.now())) / 2)
      ahead = Math.abs(difference) > TOLERANCE_MS ? difference : 0
      return ahead
    },
  }
}
