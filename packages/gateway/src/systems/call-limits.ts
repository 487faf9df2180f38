/** Limits of one system, per instance. */
const CALLS_PER_MINUTE = 1_200
const MAXIMUM_RUNNING = 64
/** Callers that are counted. With more, the longest unused one is forgotten. */
const MAXIMUM_CALLERS = 10_000
const MINUTE_MS = 60_000

export interface CallLimits {
  /** Seconds to wait if the call may not start. A call that starts must be ended. */
  begin(callerId: string): { readonly waitSeconds: number } | undefined
  end(callerId: string): void
}

interface Count {
  tokens: number
  at: number
  running: number
}

/** A token bucket that fills in a minute, and a bound on calls at the same time. */
export function createCallLimits(
  nowMs: () => number,
  { callsPerMinute = CALLS_PER_MINUTE, maximumRunning = MAXIMUM_RUNNING } = {},
): CallLimits {
  const counts = new Map<string, Count>()

  function countOf(callerId: string): Count {
    const known = counts.get(callerId)
    const at = nowMs()
    const count = known ?? { tokens: callsPerMinute, at, running: 0 }
    count.tokens = Math.min(callsPerMinute, count.tokens + ((at - count.at) / MINUTE_MS) * callsPerMinute)
    count.at = at
    counts.delete(callerId)
    counts.set(callerId, count)
    if (counts.size > MAXIMUM_CALLERS) forgetOne()
    return count
  }

  function forgetOne(): void {
    for (const [callerId, { running }] of counts)
      if (running === 0) {
        counts.delete(callerId)
        return
      }
  }

  return {
    begin(callerId) {
      const count = countOf(callerId)
      if (count.running >= maximumRunning) return { waitSeconds: 1 }
      if (count.tokens < 1)
        return { waitSeconds: Math.max(1, Math.ceil(((1 - count.tokens) / callsPerMinute) * 60)) }
      count.tokens -= 1
      count.running += 1
      return undefined
    },
    end(callerId) {
      const count = counts.get(callerId)
      if (count) count.running -= 1
    },
  }
}
