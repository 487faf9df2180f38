import type { PackageMetadata, TransportMode } from '@agent-exchange/protocol'

/** `accepted` and `refused` are final; `published` exists in ds_x only. */
export const OUTBOX_STATES = ['sealed', 'receipt_accepted', 'published', 'accepted', 'refused'] as const
export type OutboxState = (typeof OUTBOX_STATES)[number]

/**
 * An outgoing package: signed and sealed bytes with their idempotency keys, so that a retry after a crash is the same
 * request. Unreadable without a private key.
 */
export interface OutboxEntry {
  readonly packageId: string
  readonly state: OutboxState
  /** Version for optimistic locking. */
  readonly revision: number
  readonly transportMode: TransportMode
  readonly metadata: PackageMetadata
  readonly receiptText: string
  readonly receiptKey: string
  /** The exact exchange envelope: the request body in native mode, the asset in ds_x. */
  readonly envelopeText: string
  /** The signed manifest, once the asset is published (ds_x). */
  readonly manifestText?: string
  readonly packageKey: string
  readonly createdAt: string
  readonly updatedAt: string
  /** Why the exchange refused it. */
  readonly problem?: string
}

export type OutboxChange = Partial<Omit<OutboxEntry, 'packageId' | 'revision' | 'createdAt'>> & {
  readonly updatedAt: string
}

/**
 * Holds packages until the exchange has accepted them. A call of an implementation resolves once its change is
 * durable.
 */
export interface Outbox {
  /** Adds the entry, or replaces a refused one. Returns the stored entry, which may be that of another sender. */
  add(entry: OutboxEntry): Promise<OutboxEntry>
  read(packageId: string): Promise<OutboxEntry | undefined>
  /** Updates the entry if its version is current. Returns the stored entry. */
  advance(entry: OutboxEntry, change: OutboxChange): Promise<OutboxEntry>
  /** Unfinished entries, oldest first. */
  pending(limit: number): Promise<readonly OutboxEntry[]>
  /** Removes entries that finished before a time. Returns their number. */
  prune(endedBefore: string): Promise<number>
}

export function hasEnded({ state }: Pick<OutboxEntry, 'state'>): boolean {
  return state === 'accepted' || state === 'refused'
}
