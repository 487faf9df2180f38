import type { MasterKeyError } from '@agent-exchange/server/master-key'
import type { StoredContent } from '../content/content-store.ts'

export interface NewItem {
  readonly agentId: string
  readonly packageId: string
  readonly threadId: string
  /** Position in the stream of the agent's notifications. */
  readonly sequence: number
  readonly contentType: string
  readonly receivedAt: string
}

export interface InboxItem extends NewItem {
  readonly itemId: string
  /** How often it was taken, this time included. */
  readonly attempts: number
}

/** `gone`: it was deleted. An error: it cannot be decrypted. Undefined: nothing was stored. */
export type LeasedContent = StoredContent | 'gone' | MasterKeyError | undefined

export interface LeasedItem extends InboxItem {
  /** Reading it is an entry of the access record. */
  readonly content: LeasedContent
  /** That of all items that were taken together. Shown once; the table holds its hash. */
  readonly leaseToken: string
  readonly leaseEndsAt: string
}

export interface SetAsideItem extends InboxItem {
  /** The gateway's own words; null if a system gave a reason. */
  readonly failure: string | null
  /** The reason of a system. */
  readonly wrappedFailure: Uint8Array | null
}

export interface ItemRow {
  readonly item_id: string
  readonly agent_id: string
  readonly package_id: string
  readonly thread_id: string
  readonly sequence: string | number
  readonly content_type: string
  readonly received_at: string
  readonly attempts: number
}

export const toItem = (row: ItemRow): InboxItem => ({
  itemId: row.item_id,
  agentId: row.agent_id,
  packageId: row.package_id,
  threadId: row.thread_id,
  sequence: Number(row.sequence),
  contentType: row.content_type,
  receivedAt: row.received_at,
  attempts: row.attempts,
})

/** The members that systems get of every item, whether it is leased, pushed or set aside. */
export const toShownItem = (item: InboxItem) => ({
  item_id: item.itemId,
  agent_id: item.agentId,
  package_id: item.packageId,
  thread_id: item.threadId,
  sequence: item.sequence,
  content_type: item.contentType,
})
