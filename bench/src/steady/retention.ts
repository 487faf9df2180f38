import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { DAY_SECONDS, secondsAfter } from '@agent-exchange/server/clock'
import { setTimeout as sleep } from 'node:timers/promises'
import { removeExpired } from '../../../packages/service/src/features/retention/retention.ts'
import { open, type DatabaseTarget } from '../exchange/postgres-server.ts'

/** The shortest that the profile allows. */
export const SHORTEST = {
  idempotency_days: 1,
  notification_days: 1,
  content_days_after_expiry: 0,
  delivery_days: 1,
}
/** What is older is removed. No retry and no delivery of the load is. */
export const KEPT_SECONDS = 120
const PAUSE_MS = 1_000
const CONNECTIONS = 2

export interface Retention extends AsyncDisposable {
  /** Rows since the start. */
  removed(): number
}

/**
 * The exchange keeps everything for a day at least, and removes once an hour: a run of half an hour would never see it.
 * This is its retention, at the time at which the day of all but the last minutes is over.
 */
export function startRetention(database: DatabaseTarget): Retention {
  const db = open(database, CONNECTIONS)
  const stop = new AbortController()
  const profile = { ...DEFAULT_PROFILE, 'O-18': { ...DEFAULT_PROFILE['O-18'], ...SHORTEST } }
  let removed = 0
  const run = async () => {
    while (!stop.signal.aborted) {
      const now = secondsAfter(new Date().toISOString(), DAY_SECONDS - KEPT_SECONDS)
      const rows = await removeExpired(db, profile, now, stop.signal)
      for (const count of Object.values(rows)) removed += count
      await sleep(PAUSE_MS, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  }
  const running = run()
  // Awaited at the end; this avoids an unhandled rejection.
  running.catch(() => undefined)
  return {
    removed: () => removed,
    async [Symbol.asyncDispose]() {
      stop.abort()
      try {
        await running
      } finally {
        await db[Symbol.asyncDispose]()
      }
    },
  }
}
