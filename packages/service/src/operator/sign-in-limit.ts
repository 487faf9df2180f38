import { createHmac, type KeyObject } from 'node:crypto'
import type { Database } from '../db/database.ts'
import { countAttempt, forgetAttempt } from '../features/organizations/sign-in-attempt-store.ts'
import { limitedAddress } from '../http/connection-limit.ts'
import { secondsAfter, secondsBetween, type Clock } from '../kernel/clock.ts'
import { Problem } from '../kernel/problem.ts'
import type { SessionLimits } from './session-limits.ts'

/** Rows of the table. Two addresses that share one share their limit; the key makes collisions unpredictable. */
const BUCKETS = 4_096

interface SignInLimitSettings {
  readonly db: Database
  readonly clock: Clock
  readonly macKey: KeyObject
  readonly limits: SessionLimits
}

/** Limits failed sign-ins per address over all processes. Attempts count before they are verified. */
export function createSignInLimit({ db, clock, macKey, limits }: SignInLimitSettings) {
  const bucketOf = (address: string | undefined) =>
    createHmac('sha256', macKey)
      .update(`sign-in ${limitedAddress(address)}`)
      .digest()
      .readUInt32BE() % BUCKETS
  return async function limited<T>(address: string | undefined, signIn: () => Promise<T>): Promise<T> {
    const now = clock.now()
    const bucket = bucketOf(address)
    const windowAfter = secondsAfter(now, -limits.windowSeconds)
    const { attempts, window_start } = await countAttempt(db, { bucket, now, windowAfter })
    if (attempts > limits.failuresPerWindow) {
      const wait = Math.ceil(limits.windowSeconds - secondsBetween(window_start, now))
      throw new Problem('rate_limited', { retry_after_seconds: Math.max(1, wait) })
    }
    const result = await signIn()
    await forgetAttempt(db, bucket)
    return result
  }
}
