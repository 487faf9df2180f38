const MINUTE_MS = 60_000

/** Why a call may not start. */
export type BudgetRefusal =
  | { readonly kind: 'rate'; readonly waitSeconds: number }
  | { readonly kind: 'concurrency'; readonly maximumRunning: number }

/** Counts the calls of each tool over the last minute, and the calls that run now. */
export interface CallBudget {
  /** Undefined if the call may start. A call that starts must be ended. */
  begin(tool: string, callsPerMinute: number): BudgetRefusal | undefined
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
        return { kind: 'rate', waitSeconds: Math.ceil((oldest + MINUTE_MS - at) / 1_000) }
      if (running >= maximumRunning) return { kind: 'concurrency', maximumRunning }
      recent.push(at)
      running += 1
      return undefined
    },
    end() {
      running -= 1
    },
  }
}

/** What was exceeded and what to do. */
export function refusalText(what: string, callsPerMinute: number, refusal: BudgetRefusal): string {
  return refusal.kind === 'rate'
    ? `${what} may be called ${callsPerMinute} times a minute. Wait ${refusal.waitSeconds} seconds.`
    : `${refusal.maximumRunning} calls are running, and no more may run at once. Call again when one of them has ended.`
}
