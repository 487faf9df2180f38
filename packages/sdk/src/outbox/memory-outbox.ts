import { isEarlier } from '@agent-exchange/protocol'
import { hasEnded, type Outbox, type OutboxEntry } from './outbox.ts'

/**
 * An outbox in memory: for tests, browsers, and agents that can send again.
 *
 * @example
 * await sendPackage(context, input, { outbox: createMemoryOutbox() })
 */
export function createMemoryOutbox(): Outbox {
  const entries = new Map<string, OutboxEntry>()
  return {
    async add(entry) {
      const kept = entries.get(entry.packageId)
      if (kept !== undefined && kept.state !== 'refused') return kept
      const added = { ...entry, revision: (kept?.revision ?? 0) + 1 }
      entries.set(entry.packageId, added)
      return added
    },
    read: async (packageId) => entries.get(packageId),
    async advance(entry, change) {
      const kept = entries.get(entry.packageId)
      if (kept?.revision !== entry.revision) return kept ?? entry
      const changed = { ...kept, ...change, revision: kept.revision + 1 }
      entries.set(entry.packageId, changed)
      return changed
    },
    pending: async (limit) =>
      [...entries.values()]
        .filter((entry) => !hasEnded(entry))
        .toSorted(inOrder)
        .slice(0, limit),
    async prune(endedBefore) {
      const ended = [...entries.values()].filter(
        (entry) => hasEnded(entry) && isEarlier(entry.updatedAt, endedBefore) === true,
      )
      for (const { packageId } of ended) entries.delete(packageId)
      return ended.length
    },
  }
}

function inOrder(left: OutboxEntry, right: OutboxEntry): number {
  if (isEarlier(left.createdAt, right.createdAt) === true) return -1
  if (isEarlier(right.createdAt, left.createdAt) === true) return 1
  return left.packageId < right.packageId ? -1 : 1
}
