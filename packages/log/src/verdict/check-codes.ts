/**
 * Everything that a verifier looks at, as a closed union. Each code names what has to be so; the result of a check says
 * whether it is. Sentences are in `render/`.
 */
export const CHECK_CODES = [
  // The file
  /** The file has a format that this verifier knows. */
  'capsule_readable',
  /** The format binds metadata and leaves no hole; formats 1 and 2 do not. */
  'format_bound',

  // The log
  /** The log key of the capsule signed its checkpoint. */
  'log_checkpoint',
  /** An earlier checkpoint of the same log leads to that one. */
  'log_history',
  /** A log key of the verifier's policy signed the checkpoint. */
  'log_pinned',
  /** Enough witnesses of the verifier's policy cosigned it. */
  'log_quorum',

  // Packages and their chains (format 3)
  /** Each package is of the thread of the capsule, and is shown once. */
  'package_thread',
  /** Packages are in the order of their first leaves. */
  'package_order',
  /** The entries of a package are positions 1 to n. */
  'chain_positions',
  /** An entry that only one organization may see is of a kind that allows it. */
  'chain_visibility',
  /** The body of an entry has an RFC 8785 form. */
  'chain_body',
  /** The acceptance carries the digest of the metadata that are shown. */
  'metadata_digest',
  /** The head is about this package, its thread and this log. */
  'head_subject',
  /** A key of the platform that the capsule shows signed the head. */
  'head_signature',
  /** The chain that is shown reaches the position of the head, and has the same link there. */
  'head_link',
  /** No entry beyond the head is in a leaf that the head covers. */
  'head_false',

  // The chain of a thread (formats 1 and 2)
  /** Entries hash to what they say. */
  'thread_hashes',
  /** Each entry names the one before. */
  'thread_links',
  /** No entry is left out between those that are shown. */
  'thread_gaps',
  /** The chain holds what was seen before. */
  'thread_anchor',
  /** The exchange did not rewrite the chain as a whole. */
  'thread_rewritten',
  /** Each entry belongs to one package of this evidence. */
  'entry_package',
  /** Entries outside of the chain are of kinds that may be there. */
  'unlinked_entry',

  // Records in the log
  /** Records cover entries that are shown, in their order, each once. */
  'record_positions',
  /** The record and its entries are of one package. */
  'record_package',
  /** The log holds the record as it is shown. */
  'record_leaf',
  /** The log holds records in the order of their entries. */
  'record_order',
  /** Every entry is in a record of the log. */
  'record_missing',

  // Keys
  /** Each key id names one usable key. */
  'key_usable',
  /** The key belongs to the organization of its agent. */
  'key_owner',
  /** The key shows the earliest of its revocations. */
  'key_revocations',
  /** The key has a fingerprint that the verifier knows from elsewhere. */
  'key_trusted',
  /** Each key is usable, is shown once, and has its thumbprint in its registration. */
  'key_bound',
  /** The log holds the key event as it is shown. */
  'key_event_leaf',
  /** Key events of an agent count from 1 without gaps, in the order of their leaves, each number once. */
  'key_event_numbers',
  /** The key of the evidence is the one in the log. */
  'key_record',
  /** The evidence shows every event of the key that the log holds. */
  'key_history',
  /** The log shows since when it knows the key. */
  'key_registration',
  /** The log shows what the evidence says of the key. */
  'key_event_proof',
  /** The log knew the key before what it signed. */
  'key_logged_before_use',
  /** The log holds the revocation of the key after what it signed. */
  'key_used_before_revocation',
  /** Nothing happened to the keys of the agent after what is shown. */
  'later_key_events',

  // What was signed
  'acceptance_signature',
  /** The acceptance is about this package. */
  'acceptance_subject',
  /** The key with which the platform verified the package counted. */
  'acceptance_key',
  'policy_receipt_signature',
  /** The policy receipt covers the package. */
  'policy_receipt_subject',
  /** The checks passed, and a required approval is there. */
  'policy_receipt_eligible',
  /** The policy is the one that was evaluated. */
  'policy_evaluated',
  'manifest_signature',
  /** The platform accepted the manifest under the key that signed it. */
  'manifest_key',
  'content_signature',
  /** The agent that discloses the content signed that it does. */
  'disclosure_signature',
  /** The envelope opens under the disclosed key. */
  'disclosure_content',
  /** The sender committed to that key, or the recipient discloses it. */
  'disclosure_key',
  'receipt_signature',
  'revocation_signature',
  /** The response is a package of the recipient. */
  'response_package',
  /** The chain records what the package answers. */
  'response_recorded',
  /** The entry repeats what was signed. */
  'entry_repeats_signed',
  /** The state follows from the entries. */
  'entry_state',

  // Times, and what no evidence proves
  /** Recorded times never run backwards. */
  'recorded_order',
  /** Witnesses bound the recorded time. */
  'recorded_time',
  /** A witnessed checkpoint from before each entry is shown: without it, an entry may be backdated. */
  'earlier_checkpoint',
  /** Nothing was recorded after what is shown. */
  'later_events',
  /** When a key was revoked. */
  'revocation_time',
  /** The times of receipts and revocations. */
  'statement_times',
  /** What was said is true. */
  'truth',
] as const

export type CheckCode = (typeof CHECK_CODES)[number]

/** Checks that verify the signature of a party. */
export const SIGNATURE_CODES: ReadonlySet<CheckCode> = new Set([
  'acceptance_signature',
  'policy_receipt_signature',
  'manifest_signature',
  'content_signature',
  'disclosure_signature',
  'receipt_signature',
  'revocation_signature',
])

/** Where one of these is not proved, the capsule as a whole proves no more than the exchange's word. */
export const LOWERING_CODES: ReadonlySet<CheckCode> = new Set([
  'format_bound',
  'record_missing',
  'key_registration',
  'key_event_proof',
  'key_used_before_revocation',
  'recorded_time',
])

/** What nobody signed, and the exchange says. */
export const CLAIM_CODES = [
  /** When and how it recorded a signed statement. */
  'recording',
  'content_fetched',
  'delivery_replayed',
  'unknown_kind',
  'unsigned_receipt',
  'unsigned_revocation',
  /** An answer that is not in this evidence. */
  'answered',
  /** Which package a response answers. */
  'answers',
  /** The agent who signed belongs to the organization. */
  'membership',
  /** Which package a revocation is about. */
  'revoked_package',
  /** Which asset belongs to the package. */
  'asset',
  /** Metadata that no signature covers. */
  'metadata',
  /** The state of a package beyond what is signed. */
  'state',
  'delivery_attempt',
  /** An entry that belongs to no package of this evidence. */
  'entry_of_no_package',
  /** An entry that is in no chain. */
  'unlinked_entry',
  /** The record of a signing key. */
  'key_record',
] as const

export type ClaimCode = (typeof CLAIM_CODES)[number]
