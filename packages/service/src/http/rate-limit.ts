import type { DeploymentProfile } from '@agent-exchange/protocol'
import { LRUCache } from 'lru-cache'
import type { Clock } from '@agent-exchange/server/clock'
import { Problem } from '../kernel/problem.ts'

export const MAXIMUM_HOLDERS = 10_000
const MINUTE_SECONDS = 60

interface Bucket {
  tokens: number
  filledAt: number
}

export interface BucketRules {
  /** Tokens added per second. */
  readonly rate: number
  readonly burst: number
  readonly clock: Clock
}

/** O-13: the request rate of an organization in one process. */
export function createRateLimit(profile: DeploymentProfile, clock: Clock): Buckets {
  const { requests_per_second: rate, burst } = profile['O-13']
  return createBuckets({ rate, burst, clock })
}

/** O-13: attempts to join, by address and in total. A proxy has no address: it carries the requests of many. */
export function createJoinLimit(
  profile: DeploymentProfile,
  clock: Clock,
): (address: string | undefined) => void {
  const { joins_per_minute: total, joins_per_minute_per_address: perAddress } = profile['O-13']
  const { take: takeOf } = createBuckets({ rate: perAddress / MINUTE_SECONDS, burst: perAddress, clock })
  const { take: takeOfAll } = createBuckets({ rate: total / MINUTE_SECONDS, burst: total, clock })
  return (address) => {
    // First by address, so that one flooding host does not use up the total.
    if (address !== undefined) takeOf(address)
    takeOfAll('')
  }
}

export interface Buckets {
  /** Takes one token. @returns the seconds until there is one; 0: it was taken */
  readonly tryTake: (holder: string) => number
  /** Takes one token. Throws if the bucket is empty. */
  readonly take: (holder: string) => void
  /** Takes tokens for work that is being done already: the bucket may owe them, up to its burst. */
  readonly charge: (holder: string, tokens: number) => void
}

/** A token bucket per holder, in the memory of this process. */
export function createBuckets({ rate, burst, clock }: BucketRules): Buckets {
  // The cache allocates room for all holders at once, so it waits for the first one.
  let buckets: LRUCache<string, Bucket> | undefined

  function filled(holder: string): Bucket {
    buckets ??= new LRUCache({ max: MAXIMUM_HOLDERS })
    const now = clock.monotonicMilliseconds()
    const bucket = buckets.get(holder) ?? { tokens: burst, filledAt: now }
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAt) / 1_000) * rate)
    bucket.filledAt = now
    buckets.set(holder, bucket)
    return bucket
  }

  function tryTake(holder: string): number {
    const bucket = filled(holder)
    if (bucket.tokens < 1) return (1 - bucket.tokens) / rate
    bucket.tokens -= 1
    return 0
  }

  return {
    tryTake,
    take(holder) {
      const wait = tryTake(holder)
      if (wait > 0) throw rateLimited(wait)
    },
    charge(holder, tokens) {
      const bucket = filled(holder)
      bucket.tokens = Math.max(-burst, bucket.tokens - tokens)
    },
  }
}

/** O-13: what bytes of a body or of an answer cost in addition to the request. */
export function costBeyondOne(bytes: number, { 'O-13': { bytes_per_request } }: DeploymentProfile): number {
  return Math.floor(bytes / bytes_per_request)
}

export function rateLimited(seconds: number): Problem {
  return new Problem('rate_limited', { retry_after_seconds: Math.max(1, Math.ceil(seconds)) })
}
