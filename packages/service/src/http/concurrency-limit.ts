import type { DeploymentProfile } from '@agent-exchange/protocol'
import { createFairQueue } from '../kernel/fair-queue.ts'
import { Problem } from '../kernel/problem.ts'

const WAIT_MILLISECONDS = 5_000
/** Maximum queue length per organization, and of all together. */
const MAXIMUM_WAITING = 256
const MAXIMUM_WAITING_IN_ALL = 4_096
const RETRY_AFTER_SECONDS = 1

/** Runs the work as soon as its holder, an organization or an address, and the process are below their limits. */
export type ConcurrencyLimit = <T>(holder: string, work: () => Promise<T>) => Promise<T>

export interface ConcurrencyRules {
  /** The setting of O-13 that a refusal names. */
  readonly quota: string
  readonly perHolder: number
  readonly total: number
  readonly waitMilliseconds?: number
}

/** O-13: the limits of the agent API. */
export interface ConcurrencyLimits {
  /** Mutations that take a transaction of their own, so that no organization can occupy all database connections. */
  readonly changes: ConcurrencyLimit
  /** Reads of pages, which take the most time of the event loop and of the database. */
  readonly reads: ConcurrencyLimit
  /** Requests to the authorization server, by address. */
  readonly tokens: ConcurrencyLimit
}

export function createConcurrencyLimits({ 'O-13': limits }: DeploymentProfile): ConcurrencyLimits {
  const limitOf = (name: 'concurrent_changes' | 'concurrent_reads' | 'concurrent_token_requests') =>
    createConcurrencyLimit({ quota: name, perHolder: limits[name], total: limits[`${name}_in_all`] })
  return {
    changes: limitOf('concurrent_changes'),
    reads: limitOf('concurrent_reads'),
    tokens: limitOf('concurrent_token_requests'),
  }
}

/** What waits is served by holder in turn. */
export function createConcurrencyLimit(rules: ConcurrencyRules): ConcurrencyLimit {
  const { perHolder, total, waitMilliseconds = WAIT_MILLISECONDS } = rules
  const running = new Map<string, number>()
  const queue = createFairQueue<() => void>()
  let runningInAll = 0

  const isBelowOwn = (holder: string) => (running.get(holder) ?? 0) < perHolder

  function begin(holder: string): void {
    runningInAll += 1
    running.set(holder, (running.get(holder) ?? 0) + 1)
  }

  function end(holder: string): void {
    runningInAll -= 1
    const left = (running.get(holder) ?? 0) - 1
    if (left > 0) running.set(holder, left)
    else running.delete(holder)
    // The slot is taken at once, so that a new request cannot overtake.
    while (runningInAll < total) {
      const next = queue.shift(isBelowOwn)
      if (!next) return
      next()
    }
  }

  function refusal(holder: string): Problem {
    return isBelowOwn(holder)
      ? new Problem('service_overloaded', { retry_after_seconds: RETRY_AFTER_SECONDS })
      : new Problem('rate_limited', {
          quota: rules.quota,
          maximum: perHolder,
          retry_after_seconds: RETRY_AFTER_SECONDS,
        })
  }

  function waitForTurn(holder: string): Promise<void> {
    if (queue.sizeOf(holder) >= MAXIMUM_WAITING || queue.size() >= MAXIMUM_WAITING_IN_ALL)
      throw refusal(holder)
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer)
        begin(holder)
        resolve()
      }
      const timer = setTimeout(() => {
        queue.delete(holder, start)
        reject(refusal(holder))
      }, waitMilliseconds)
      queue.push(holder, start)
    })
  }

  return async (holder, work) => {
    if (runningInAll < total && isBelowOwn(holder)) begin(holder)
    else await waitForTurn(holder)
    try {
      return await work()
    } finally {
      end(holder)
    }
  }
}
