import { MasterKeyError } from '@agent-exchange/server/master-key'
import { MAXIMUM_CONTENT_PAGE } from '../content/content-limits.ts'
import type { ContentStore, NewContent, Reader, StoredContent } from '../content/content-store.ts'

/** Contents in memory, with the reads that they saw. */
export function memoryContents(): ContentStore & {
  readonly reads: Reader[]
  forget(packageId: string): void
  /** As a row whose ciphertext was altered: reading it fails. */
  damage(packageId: string): void
} {
  const stored: (StoredContent & { readonly agentId: string; isGone?: true })[] = []
  const reads: Reader[] = []
  const damaged = new Set<string>()
  const find = (agentId: string, packageId: string) =>
    stored.find((each) => each.agentId === agentId && each.packageId === packageId)
  return {
    reads,
    forget: (packageId) => {
      for (const each of stored) if (each.packageId === packageId) each.isGone = true
    },
    damage: (packageId) => void damaged.add(packageId),
    put: (_tx, content: NewContent) => {
      const { retentionUntil, ...rest } = content
      if (!find(content.agentId, content.packageId))
        stored.unshift({
          ...rest,
          contentType: 'application/json',
          storedAt: '2026-01-01T00:00:00.000Z',
          ...(retentionUntil && { retentionUntil: retentionUntil.toISOString() }),
        })
      return Promise.resolve()
    },
    read: (reader, agentId, packageId) => {
      reads.push(reader)
      if (damaged.has(packageId))
        return Promise.reject(new MasterKeyError('A stored ciphertext was altered.'))
      const found = find(agentId, packageId)
      return Promise.resolve(found?.isGone ? 'gone' : found)
    },
    list: (agentId, { threadId, before, limit }) => {
      const own = stored.filter(
        (each) => each.agentId === agentId && (!threadId || each.threadId === threadId),
      )
      const from = before === undefined ? 0 : own.findIndex(({ packageId }) => packageId === before) + 1
      return Promise.resolve(own.slice(from, from + Math.min(limit, MAXIMUM_CONTENT_PAGE)))
    },
  }
}
