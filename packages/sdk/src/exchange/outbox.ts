import type { PackageMetadata, TransportMode } from '@agent-exchange/protocol'

/** `accepted` and `refused` are ends; `published` exists in ds_x only. */
export const OUTBOX_STATES = ['sealed', 'receipt_accepted', 'published', 'accepted', 'refused'] as const
export type OutboxState = (typeof OUTBOX_STATES)[number]

/**
 * A package on its way out: signed and sealed bytes with the idempotency keys they are sent under, so that a
 * repeat after a crash is the same request. Nothing here can be read without a private key.
 */
export interface OutboxEntry {
  readonly packageId: string
  readonly state: OutboxState
  /** Counts changes, so that two senders do not overwrite each other. */
  readonly revision: number
  readonly transportMode: TransportMode
  readonly metadata: PackageMetadata
  readonly receiptText: string
  readonly receiptKey: string
  /** The exchange envelope, to the byte: the body in native mode, the asset in ds_x. */
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
 * Where packages wait until the exchange has accepted them. An implementation answers only once its change is
 * durable.
 */
export interface Outbox {
  /** Keeps the entry unless one that was not refused has its id; answers the one that is kept. */
  add(entry: OutboxEntry): Promise<OutboxEntry>
  read(packageId: string): Promise<OutboxEntry | undefined>
  /** Changes the entry where nobody else has; answers the one that is kept. */
  advance(entry: OutboxEntry, change: OutboxChange): Promise<OutboxEntry>
  /** Those without an end, the oldest first. */
  pending(limit: number): Promise<readonly OutboxEntry[]>
  /** Removes what ended before a time; says how many. */
  prune(endedBefore: string): Promise<number>
}

export function hasEnded({ state }: Pick<OutboxEntry, 'state'>): boolean {
  return state === 'accepted' || state === 'refused'
}
