import type {
  AuditEvent,
  EdcReferences,
  PackageMetadata,
  PolicyReceipt,
  Signature,
} from '@agent-exchange/protocol'
import type { CapsuleLog, RecordProof } from './capsule-format.ts'
import type { Disclosure } from './disclosure.ts'
import type { PackageHead } from './package-head.ts'

export const CAPSULE_V3_FORMAT = 'aex-evidence/3'

/**
 * Evidence of version 2. Every member is covered by the signature of a party, by a leaf of the log, or by a statement that
 * the exchange signed; what a verifier can recompute is not a member. The format is ours (O-07).
 */
export interface CapsuleV3 {
  readonly format: typeof CAPSULE_V3_FORMAT
  readonly thread_id: string
  /** In the order of their first leaves. */
  readonly packages: readonly CapsulePackage[]
  /** The keys that signatures in this capsule name, those of the platform too. */
  readonly keys: readonly CapsuleKey[]
  readonly log: Omit<CapsuleLog, 'records'>
}

export interface CapsulePackage {
  /** Bound by `metadata_digest` of the acceptance. */
  readonly metadata: PackageMetadata
  readonly policy_receipt: PolicyReceipt
  /** The rest of the signed manifest, in ds_x. */
  readonly edc?: EdcReferences
  readonly sender_signature?: Signature
  /** Positions 1 to n of the chain of this package, without a hole. */
  readonly entries: readonly (ShownEntry | HiddenEntry)[]
  readonly records: readonly CapsuleRecord[]
  readonly head?: PackageHead
  readonly disclosure?: Disclosure
}

/** An entry with its body. */
export interface ShownEntry {
  readonly position: number
  readonly visibility: 'both' | 'one'
  readonly event?: AuditEvent
  readonly proof: EntryProof
}

export interface EntryProof {
  readonly kind: string
  readonly recorded_at: string
  readonly [member: string]: unknown
}

/** The placeholder of an entry that only the other organization may see. */
export interface HiddenEntry {
  readonly position: number
  /** Of `ONE_SIDED_KINDS`. */
  readonly kind: string
  readonly visibility: 'one'
  /** In hexadecimal. */
  readonly body_hash: string
}

export type CapsuleRecord = Omit<RecordProof, 'package_id'>

/** Bound by its thumbprint to the leaf of a key event. */
export interface CapsuleKey {
  readonly organization_id: string
  readonly agent_id: string
  readonly key_id: string
  readonly public_key: { readonly kty: string; readonly crv: string; readonly x: string; readonly y: string }
}

export function isHidden(entry: ShownEntry | HiddenEntry): entry is HiddenEntry {
  return 'body_hash' in entry
}
