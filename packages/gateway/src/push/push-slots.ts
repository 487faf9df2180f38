import { PUSHES_AT_ONCE, PUSHES_OF_ENDPOINT } from './push-limits.ts'

interface FreeSlots {
  /** Agents whose endpoint takes another item now. */
  readonly agentIds: readonly string[]
  /** Items that may be taken for any of them. */
  readonly max: number
  /** Aborted when a push ends, because more may be taken then. */
  readonly changed: AbortSignal
}

/** Bounds pushes in all and of each agent's endpoint, so that one that is slow or away holds up no other. */
export function createPushSlots() {
  const running = new Map<string, number>()
  const failing = new Set<string>()
  const underWay = new Set<Promise<void>>()
  let changed = new AbortController()

  const freeOf = (agentId: string) =>
    (failing.has(agentId) ? 1 : PUSHES_OF_ENDPOINT) - (running.get(agentId) ?? 0)

  return {
    free(agentIds: Iterable<string>): FreeSlots {
      changed = new AbortController()
      const free = [...agentIds].filter((agentId) => freeOf(agentId) > 0)
      const inAll = PUSHES_AT_ONCE - underWay.size
      // All items may be those of one agent.
      const max = free.length === 0 ? 0 : Math.min(inAll, ...free.map(freeOf))
      return { agentIds: free, max, changed: changed.signal }
    },
    /** `push` says whether the endpoint accepted the item, and does not throw. */
    run(agentId: string, push: () => Promise<boolean>): void {
      running.set(agentId, (running.get(agentId) ?? 0) + 1)
      const done = push().then((isAccepted) => {
        const left = (running.get(agentId) ?? 1) - 1
        if (left === 0) running.delete(agentId)
        else running.set(agentId, left)
        if (isAccepted) failing.delete(agentId)
        else failing.add(agentId)
        underWay.delete(done)
        changed.abort()
      })
      underWay.add(done)
    },
    idle: () => Promise.all(underWay),
  }
}
