import type { DeploymentProfile } from '@agent-exchange/protocol'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../kernel/clock.ts'
import { Problem } from '../kernel/problem.ts'

const MAXIMUM_ORGANIZATIONS = 10_000

interface Bucket {
  tokens: number
  filledAt: number
}

/** O-13: a token bucket per organization and process. */
export function createRateLimit(profile: DeploymentProfile, clock: Clock): (organizationId: string) => void {
  const { requests_per_second: rate, burst } = profile['O-13']
  const buckets = new LRUCache<string, Bucket>({ max: MAXIMUM_ORGANIZATIONS })
  return (organizationId) => {
    const now = clock.monotonicMilliseconds()
    const bucket = buckets.get(organizationId) ?? { tokens: burst, filledAt: now }
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAt) / 1_000) * rate)
    bucket.filledAt = now
    buckets.set(organizationId, bucket)
    if (bucket.tokens < 1) {
      throw new Problem('rate_limited', { retry_after_seconds: Math.ceil((1 - bucket.tokens) / rate) })
    }
    bucket.tokens -= 1
  }
}
