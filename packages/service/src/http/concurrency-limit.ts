import type { DeploymentProfile } from '@agent-exchange/protocol'
import { Problem } from '../kernel/problem.ts'

const WAIT_MILLISECONDS = 5_000
/** Maximum queue length per organization. */
const MAXIMUM_WAITING = 256
const RETRY_AFTER_SECONDS = 1

/** Runs the work as soon as the organization is below its limit. */
export type ConcurrencyLimit = <T>(organizationId: string, work: () => Promise<T>) => Promise<T>

interface Queue {
  running: number
  /** In order of arrival. */
  readonly waiting: Set<() => void>
}

/** O-13: limits concurrent mutations per organization, so that no organization can occupy all database connections. */
export function createConcurrencyLimit(
  profile: DeploymentProfile,
  waitMilliseconds = WAIT_MILLISECONDS,
): ConcurrencyLimit {
  const maximum = profile['O-13'].concurrent_changes
  const queues = new Map<string, Queue>()

  function waitForTurn({ waiting }: Queue): Promise<void> {
    if (waiting.size >= MAXIMUM_WAITING) throw tooMany(maximum)
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer)
        waiting.delete(start)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(start)
        reject(tooMany(maximum))
      }, waitMilliseconds)
      waiting.add(start)
    })
  }

  function release(organizationId: string, queue: Queue): void {
    const [next] = queue.waiting
    // The slot goes directly to the next waiter, so that a new request cannot overtake it.
    if (next) return next()
    queue.running -= 1
    if (queue.running === 0) queues.delete(organizationId)
  }

  return async (organizationId, work) => {
    const queue = queues.get(organizationId) ?? { running: 0, waiting: new Set() }
    queues.set(organizationId, queue)
    if (queue.running < maximum) queue.running += 1
    else await waitForTurn(queue)
    try {
      return await work()
    } finally {
      release(organizationId, queue)
    }
  }
}

function tooMany(maximum: number): Problem {
  return new Problem('rate_limited', {
    quota: 'concurrent_changes',
    maximum,
    retry_after_seconds: RETRY_AFTER_SECONDS,
  })
}
