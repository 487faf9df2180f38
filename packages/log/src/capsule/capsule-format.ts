import type { EvidenceBundle } from '../evidence/evidence-bundle.ts'

export const CAPSULE_FORMAT = 'aex-evidence/2'

/** Largest file that is read as a capsule, unless the reader allows more. Memory and time grow with it. */
export const DEFAULT_CAPSULE_BYTES = 33_554_432
/** Largest file that a reader can allow. */
export const MAXIMUM_CAPSULE_BYTES = 268_435_456
/** Audit records in one capsule: more do not fit into the file. */
export const MAXIMUM_RECORDS = 250_000
/** Key events in one capsule: those of all agents that signed. */
export const MAXIMUM_KEY_EVENTS = 100_000
/** Earlier checkpoints in one capsule. */
export const MAXIMUM_HISTORY = 1_000

/** The longest delay between record and log that a deployment profile can promise (O-07): a day. */
export const MAXIMUM_LOGGING_DELAY_SECONDS = 86_400

/** Evidence of version 1, and the proof that each record and each key event is in the log. The format is ours (O-07). */
export interface Capsule extends Omit<EvidenceBundle, 'format'> {
  readonly format: typeof CAPSULE_FORMAT
  readonly log: CapsuleLog
}

export interface CapsuleLog {
  /** The vkey of the log, as the capsule claims it. A verifier trusts only the keys of its own policy. */
  readonly key: string
  /** The signed and cosigned note to which all proofs lead. */
  readonly checkpoint: string
  readonly records: readonly RecordProof[]
  readonly key_events: readonly KeyEventProof[]
  /** Earlier checkpoints: they say between which times a leaf was added. */
  readonly history?: readonly EarlierCheckpoint[]
}

export interface RecordProof {
  readonly package_id: string
  readonly first_position: number
  readonly last_position: number
  /** In base64url. */
  readonly salt: string
  /** A tlog-proof, verbatim; its checkpoint is that of the capsule. */
  readonly proof: string
}

export interface KeyEventProof {
  readonly organization_id: string
  readonly agent_id: string
  /** Counts the key events of the agent, from 1. */
  readonly number: number
  readonly key_id: string
  readonly kind: string
  readonly use: string
  /** RFC 7638, in base64url. */
  readonly thumbprint: string
  readonly valid_from: string
  readonly recorded_at: string
  readonly invalid_from?: string
  readonly salt: string
  readonly proof: string
}

export interface EarlierCheckpoint {
  readonly checkpoint: string
  /** The consistency proof from this checkpoint to that of the capsule: base64, one hash each. */
  readonly consistency: readonly string[]
}
