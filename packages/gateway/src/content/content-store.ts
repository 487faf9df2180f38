import type { Transaction } from '@agent-exchange/database'
import type { ProtocolObject } from '@agent-exchange/protocol'
import type { ModelUse } from './received-policies.ts'

/** Who reads plaintext, and what for. It is written to the access record. */
export interface Reader {
  readonly kind: 'person' | 'system' | 'model'
  readonly id: string
  readonly purpose: string
}

export interface NewContent {
  readonly agentId: string
  readonly packageId: string
  readonly threadId: string
  readonly direction: 'received' | 'sent'
  readonly object: ProtocolObject
  /** Where the object comes from and what its sender asked for. It travels with the object to every reader. */
  readonly provenance: Readonly<Record<string, unknown>>
  /** When the plaintext is deleted (O-51), or earlier. Undefined: never, unless its policy or an administrator ends it. */
  readonly retentionUntil?: Date
  /** For received content: the policy of the sender shortens the retention, also one that is received later. */
  readonly underPolicy?: UnderPolicy
}

export interface UnderPolicy {
  readonly organizationId: string
  readonly policyId: string
  /** O-51: since when the retention counts. */
  readonly retentionFrom: Date
}

/** What is known of a content without reading it. */
export interface ContentSummary {
  readonly packageId: string
  readonly threadId: string
  readonly direction: NewContent['direction']
  readonly contentType: string
  readonly storedAt: string
  readonly retentionUntil?: string
  /** When the plaintext was deleted. */
  readonly deletedAt?: string
}

export interface StoredContent extends ContentSummary {
  readonly object: ProtocolObject
  readonly provenance: Readonly<Record<string, unknown>>
  /** What the sender lets language models do with it, if the gateway received the policy. */
  readonly modelUse?: ModelUse
}

/** The sender's policy does not let a language model read the content. Nothing was read. */
export class ModelUseForbidden extends Error {
  override readonly name = 'ModelUseForbidden'
}

/** A row without its plaintext. */
export interface ContentRow {
  readonly package_id: string
  readonly thread_id: string
  readonly direction: NewContent['direction']
  readonly content_type: string
  readonly stored_at: string
  readonly retention_until: string | null
  readonly deleted_at: string | null
}

export interface SealedRow extends ContentRow {
  readonly wrapped_key: Uint8Array | null
  readonly sealed: Uint8Array | null
}

export interface ContentPage {
  readonly threadId?: string
  /** Contents that were stored before this package. */
  readonly before?: string
  readonly limit: number
}

/** The opened objects of packages, each encrypted with a data key of its own. */
export interface ContentStore {
  /** The same package again changes nothing. */
  put(tx: Transaction, content: NewContent): Promise<void>
  /**
   * Each read is an entry of the access record, in the same transaction. `gone`: the plaintext was deleted.
   *
   * @throws {ModelUseForbidden} if the reader is a model, and the sender does not permit that
   */
  read(reader: Reader, agentId: string, packageId: string): Promise<StoredContent | 'gone' | undefined>
  /**
   * The same for a row that `tx` has locked. The entry and what is read beside it can go with the commit, so `tx` need not
   * wait for it. A content that cannot be decrypted is no entry.
   */
  open(tx: Transaction, reader: Reader, agentId: string, row: SealedRow): Promise<StoredContent | 'gone'>
  /** Newest first, without plaintext. */
  list(agentId: string, page: ContentPage): Promise<readonly ContentSummary[]>
}
