import { setTimeout as sleep } from 'node:timers/promises'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Clock } from '@agent-exchange/server/clock'
import { createBuckets } from './rate-limit.ts'

const DELAY_MS = 1_000
/** Refusals at once before the first delay, in seconds of the rate. */
const BURST_SECONDS = 10
/** Answers that are held back at the same time. */
const MAXIMUM_HELD = 1_024

/** Resolves when a refused token may be answered; false: the connection has to end with the answer. */
export type RefusalDelay = (address: string) => Promise<boolean>

/**
 * O-13: an address that sends many missing or invalid tokens gets its answers late, so that its connections cannot keep
 * the event loop busy. No valid token is refused or delayed: another client may share the address.
 */
export function createRefusalDelay(
  { 'O-13': { refused_tokens_per_second: rate } }: DeploymentProfile,
  clock: Clock,
  delayMs = DELAY_MS,
): RefusalDelay {
  const buckets = createBuckets({ rate, burst: rate * BURST_SECONDS, clock })
  let held = 0
  return async (address) => {
    if (buckets.tryTake(address) === 0) return true
    if (held >= MAXIMUM_HELD) return false
    held += 1
    await sleep(delayMs, undefined, { ref: false })
    held -= 1
    return true
  }
}
