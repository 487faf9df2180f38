import { growingCache } from '../kernel/growing-cache.ts'
import type { Lease, LeaseRequest } from './rate-bucket-store.ts'
import { createBuckets, MAXIMUM_HOLDERS, rateLimited, type BucketRules } from './rate-limit.ts'

/** A request waits this long for a lease, then the share of this process decides. */
const LEASE_LIMIT_MS = 500
/** After a failed lease, the share of this process decides for this long without asking again. */
const LOCAL_MS = 1_000
/** Leases that one request may wait for: other requests may use up a lease first. */
const MAXIMUM_LEASES = 4
/** An organization holds back at most this part of its burst in the processes together. */
const HELD_PART = 8

interface Held {
  tokens: number
  /** Requests that wait for the lease. */
  waiting: number
  /** The lease that is being requested; false: the database did not answer in time. */
  renewal: Promise<boolean> | undefined
  /** Monotonic: the common bucket is empty until then. */
  emptyUntil: number
  /** Monotonic: the database is away, so the share of this process decides until then. */
  localUntil: number
}

/** The request rate of organizations. */
export interface RateLimit {
  /** Counts one request. Throws a Problem, or rejects, if it exceeds the limit. */
  readonly take: (organizationId: string) => void | Promise<void>
  /** Counts the cost of a large request or answer beyond one. */
  readonly charge: (organizationId: string, tokens: number) => void
}

export interface LeasedBucketRules extends BucketRules {
  /** Tokens that a process holds of one bucket. */
  readonly slice: number
  /** Processes that share the buckets. */
  readonly processes: number
  readonly lease: (request: LeaseRequest) => Promise<Lease>
}

/**
 * Token buckets that several processes share. Each process takes slices out of the common bucket in the database and
 * decides most requests from memory. A token is taken once, so the processes together exceed the limit by no more than
 * the slices that they held before.
 */
export function createLeasedBuckets(rules: LeasedBucketRules): RateLimit {
  const { rate, burst, clock, processes } = rules
  const slice = Math.max(1, Math.min(rules.slice, Math.floor(burst / (HELD_PART * processes))))
  const { take: takeOfShare } = createBuckets({
    rate: rate / processes,
    burst: Math.max(1, burst / processes),
    clock,
  })
  const holders = growingCache<Held>(MAXIMUM_HOLDERS)

  function heldBy(holder: string): Held {
    const known = holders.get(holder)
    if (known) return known
    const held = { tokens: 0, waiting: 0, renewal: undefined, emptyUntil: 0, localUntil: 0 }
    holders.set(holder, held)
    return held
  }

  /** Resolves with false if the database did not grant or refuse anything in time. */
  function renew(holder: string, held: Held): Promise<boolean> {
    held.renewal ??= requestLease(holder, held).finally(() => (held.renewal = undefined))
    return held.renewal
  }

  async function requestLease(holder: string, held: Held): Promise<boolean> {
    const wanted = Math.max(1, slice - held.tokens + held.waiting)
    const answer = rules.lease({ holder, wanted }).then(
      ({ granted, left }) => {
        held.tokens += granted
        if (granted < wanted) held.emptyUntil = clock.monotonicMilliseconds() + pauseOf(left)
        return true
      },
      () => false,
    )
    const isAnswered = await withTimeout(answer)
    if (!isAnswered) held.localUntil = clock.monotonicMilliseconds() + LOCAL_MS
    return isAnswered
  }

  /** Until there is a token, and long enough that an organization at its limit does not ask for each request. */
  function pauseOf(left: number): number {
    return Math.max((1 - left) / rate, Math.min(slice / rate, 1)) * 1_000
  }

  async function takeOfLease(holder: string, held: Held): Promise<void> {
    held.waiting += 1
    try {
      for (let leases = 0; leases < MAXIMUM_LEASES; leases++) {
        const isAnswered = await renew(holder, held)
        if (held.tokens >= 1) {
          held.tokens -= 1
          return
        }
        if (!isAnswered) return takeOfShare(holder)
        requireTokens(held)
      }
      throw rateLimited(1)
    } finally {
      held.waiting -= 1
    }
  }

  function requireTokens({ emptyUntil }: Held): void {
    const wait = emptyUntil - clock.monotonicMilliseconds()
    if (wait > 0) throw rateLimited(wait / 1_000)
  }

  function take(holder: string): void | Promise<void> {
    const held = heldBy(holder)
    if (held.tokens >= 1) {
      held.tokens -= 1
      // In advance, so that requests seldom wait. Its outcome is read from `held`.
      if (held.tokens < slice / 2 && mayAsk(held, clock.monotonicMilliseconds())) void renew(holder, held)
      return undefined
    }
    if (clock.monotonicMilliseconds() < held.localUntil) return takeOfShare(holder)
    requireTokens(held)
    return takeOfLease(holder, held)
  }

  return {
    take,
    // The next lease pays what is owed.
    charge(holder, tokens) {
      const held = heldBy(holder)
      held.tokens = Math.max(-burst, held.tokens - tokens)
    },
  }
}

function mayAsk({ renewal, emptyUntil, localUntil }: Held, now: number): boolean {
  return renewal === undefined && now >= emptyUntil && now >= localUntil
}

async function withTimeout(answer: Promise<boolean>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), LEASE_LIMIT_MS)
  try {
    return await Promise.race([answer, promise])
  } finally {
    clearTimeout(timer)
  }
}
