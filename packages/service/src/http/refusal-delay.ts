import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Clock } from '@agent-exchange/server/clock'
import { delayRefusals, type RefusalDelay } from '@agent-exchange/server/refusal-delay'
import { createBuckets } from './rate-limit.ts'

/** Refusals at once before the first delay, in seconds of the rate. */
const BURST_SECONDS = 10

/** O-13: an address that sends many missing or invalid tokens gets its answers late. */
export function createRefusalDelay(
  { 'O-13': { refused_tokens_per_second: rate } }: DeploymentProfile,
  clock: Clock,
  delayMs?: number,
): RefusalDelay {
  const buckets = createBuckets({ rate, burst: rate * BURST_SECONDS, clock })
  return delayRefusals((address) => buckets.tryTake(address) === 0, delayMs === undefined ? {} : { delayMs })
}
