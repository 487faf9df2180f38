const MINUTE_MS = 60_000

/** Counts the calls of each tool over the last minute, and the calls that run now. */
export interface CallBudget {
  /** Undefined if the call may start; otherwise the seconds to wait. A call that starts must be ended. */
  begin(tool: string, callsPerMinute: number): number | undefined
  end(): void
}

/** `now` in milliseconds. The limits hold over all clients of the server. */
export function createCallBudget(now: () => number, maximumRunning: number): CallBudget {
  const started = new Map<string, number[]>()
  let running = 0
  return {
    begin(tool, callsPerMinute) {
      const at = now()
      const recent = (started.get(tool) ?? []).filter((time) => time > at - MINUTE_MS)
      started.set(tool, recent)
      const [oldest] = recent
      if (recent.length >= callsPerMinute && oldest !== undefined)
        return Math.ceil((oldest + MINUTE_MS - at) / 1_000)
      if (running >= maximumRunning) return 1
      recent.push(at)
      running += 1
      return undefined
    },
    end() {
      running -= 1
    },
  }
}
