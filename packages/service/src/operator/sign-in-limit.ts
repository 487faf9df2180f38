import { createHmac, type KeyObject } from 'node:crypto'
import type { Database } from '@agent-exchange/database'
import { limitedAddress } from '@agent-exchange/protocol/limited-address'
import { secondsAfter, secondsBetween, type Clock } from '@agent-exchange/server/clock'
import { countAttempt } from '../features/operators/sign-in-attempt-store.ts'
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

/**
 * Limits failed sign-ins per address over all processes. A correct token always signs in: everybody behind one proxy has
 * one address, and a token of 256 bits cannot be guessed, so a lock-out would help attackers only.
 */
export function createSignInLimit({ db, clock, macKey, limits }: SignInLimitSettings) {
  const bucketOf = (address: string | undefined) =>
    createHmac('sha256', macKey)
      .update(`sign-in ${limitedAddress(address)}`)
      .digest()
      .readUInt32BE() % BUCKETS
  return async function limited<T>(address: string | undefined, signIn: () => Promise<T>): Promise<T> {
    try {
      return await signIn()
    } catch (error) {
      if (error instanceof Problem && error.code === 'access_token_invalid') await countFailure(address)
      throw error
    }
  }

  async function countFailure(address: string | undefined): Promise<void> {
    const now = clock.now()
    const bucket = bucketOf(address)
    const windowAfter = secondsAfter(now, -limits.windowSeconds)
    const { attempts, window_start } = await countAttempt(db, { bucket, now, windowAfter })
    if (attempts > limits.failuresPerWindow) {
      const wait = Math.ceil(limits.windowSeconds - secondsBetween(window_start, now))
      throw new Problem('rate_limited', { retry_after_seconds: Math.max(1, wait) })
    }
  }
}
