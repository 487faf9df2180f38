import type { DeploymentProfile } from '@agent-exchange/protocol'
import { Problem } from '../kernel/problem.ts'

const WAIT_MILLISECONDS = 5_000
/** Requests of one organization that may wait. */
const MAXIMUM_WAITING = 256
const RETRY_AFTER_SECONDS = 1

/** Runs the work when it is the organization's turn. */
export type ConcurrencyLimit = <T>(organizationId: string, work: () => Promise<T>) => Promise<T>

interface Line {
  running: number
  /** In the order of arrival. */
  readonly waiting: Set<() => void>
}

/**
 * O-13: mutations that take a transaction each run a few at a time per organization and process, so that one
 * organization cannot occupy all database connections.
 */
export function createConcurrencyLimit(
  profile: DeploymentProfile,
  waitMilliseconds = WAIT_MILLISECONDS,
): ConcurrencyLimit {
  const maximum = profile['O-13'].concurrent_changes
  const lines = new Map<string, Line>()

  function waitForTurn({ waiting }: Line): Promise<void> {
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

  function release(organizationId: string, line: Line): void {
    const [next] = line.waiting
    // The place passes on: whoever arrives now does not overtake.
    if (next) return next()
    line.running -= 1
    if (line.running === 0) lines.delete(organizationId)
  }

  return async (organizationId, work) => {
    const line = lines.get(organizationId) ?? { running: 0, waiting: new Set() }
    lines.set(organizationId, line)
    if (line.running < maximum) line.running += 1
    else await waitForTurn(line)
    try {
      return await work()
    } finally {
      release(organizationId, line)
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
