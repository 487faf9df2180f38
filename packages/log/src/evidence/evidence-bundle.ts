import type {
  EdcReferences,
  EvidenceEntry,
  PackageEvidence,
  PackageMetadata,
  PolicyReceipt,
  PublicKey,
  Signature,
} from '@agent-exchange/protocol'

export const EVIDENCE_FORMAT = 'aex-evidence/1'

/** Packages in one bundle. */
export const MAXIMUM_PACKAGES = 1_000

/** How deep the JSON of evidence and of envelopes may nest. */
export const MAXIMUM_DEPTH = 32

/** Entries in one bundle: more do not fit into the file. */
export const MAXIMUM_ENTRIES = 500_000

/** Keys in one bundle: only those that signatures in it name. */
export const MAXIMUM_KEYS = 10_000

/** What happened to one key: O-13 limits its revocations. */
export const MAXIMUM_EVENTS_OF_KEY = 2_000

/**
 * Evidence as it was collected: one JSON value that can be kept, sent and verified without the exchange. It holds
 * what a verifier needs and nothing twice: states follow from the entries, and the entries carry the receipts. The
 * format is ours (O-07).
 */
export interface EvidenceBundle {
  readonly format: typeof EVIDENCE_FORMAT
  readonly thread_id: string
  /** The hash chain of the thread, in its order, as far as the collector is a party to the packages. */
  readonly entries: readonly ThreadEntry[]
  readonly packages: readonly PackageRecord[]
  /** The keys that signatures in this bundle name, those of the platform too. */
  readonly keys: readonly KeyRecord[]
  /** Entries that the exchange keeps outside of the chain, such as those of policy receipts that no package used. */
  readonly unlinked_entries?: readonly UnlinkedEntry[]
}

/** An entry of the chain of a thread: its proof names the entry before. */
export interface ThreadEntry extends Omit<EvidenceEntry, 'chain' | 'proof'> {
  readonly proof: EvidenceEntry['proof'] & { readonly previous_hash: string | null; readonly hash: string }
}

/** Entries of version 2 are in the chain of their package instead. */
export function isThreadEntry(entry: EvidenceEntry): entry is EvidenceEntry & ThreadEntry {
  return (
    entry.chain === undefined && entry.proof.hash !== undefined && entry.proof.previous_hash !== undefined
  )
}

export interface PackageRecord {
  readonly metadata: PackageMetadata
  readonly policy_receipt: PolicyReceipt
  /** Its entries in the chain: an entry without an audit event does not name its package. */
  readonly positions: readonly number[]
  /** The rest of the signed manifest, in ds_x. */
  readonly edc?: EdcReferences
  readonly sender_signature?: Signature
  /** Notifications of this package to the collector's own endpoints. */
  readonly delivery_attempts?: PackageEvidence['delivery_attempts']
}

export interface KeyRecord {
  readonly organization_id: string
  readonly agent_id: string
  readonly key: PublicKey
  /** What happened to the key; a directory lists keys without it. */
  readonly events?: PackageEvidence['key_history'][number]['events']
}

export interface UnlinkedEntry {
  readonly event?: EvidenceEntry['event']
  readonly proof: { readonly kind: string }
}
