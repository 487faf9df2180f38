/**
 * Every reason for which this package refuses input, with the sentence that its reader sees. Programs match on the
 * code, which is stable; a sentence may be reworded. No sentence quotes input.
 */
const SENTENCES = {
  // Merkle tree (RFC 9162 section 2.1)
  size_invalid: 'A tree size or leaf index is not an integer from 0 to 2^53 - 1.',
  hash_invalid: 'A hash is not 32 bytes long.',
  inclusion_index: 'The leaf index is not smaller than the tree size.',
  inclusion_length: 'The inclusion proof has the wrong number of hashes for this index and size.',
  inclusion_root: 'The inclusion proof leads to another root hash.',
  consistency_sizes: 'The old tree is larger than the new one.',
  consistency_empty_tree: 'The old tree is empty, and its root is not the one of an empty tree.',
  consistency_length: 'The consistency proof has the wrong number of hashes for these sizes.',
  consistency_old_root: 'The consistency proof leads to another old root hash: the log was rewritten.',
  consistency_new_root: 'The consistency proof leads to another new root hash: the log was rewritten.',

  // Tiles (C2SP tlog-tiles)
  tile_path: 'The path does not name a tile.',
  tile_length: 'A tile does not have the length that its width requires.',
  entry_length: 'A log entry is longer than 65,535 bytes.',
  bundle_malformed: 'An entry bundle does not hold exactly the entries that its width requires.',
  edge_mismatch: 'The right edge does not belong to a tree of this size.',

  // Signed notes (C2SP signed-note)
  note_size: 'The note is larger than allowed.',
  note_encoding: 'The note is not UTF-8, or holds a control character other than a newline.',
  note_malformed: 'The note has no text, blank line and signature lines in this order.',
  note_signature_count: 'The note has more signatures than allowed.',
  note_signature_malformed: 'A signature line of the note is malformed.',
  note_signature_invalid: 'A signature by a known key does not fit the note.',
  note_time: 'A witness cosigned the note with a time beyond the year 9999.',
  note_unsigned: 'No known key signed the note.',
  key_malformed: 'The key text is malformed.',
  key_name: 'The key name is empty, or holds a space or a plus sign.',
  key_id: 'The key text names another key id than its key has.',
  key_type: 'The signature type is not supported.',

  // Checkpoints and proofs (C2SP tlog-checkpoint, tlog-proof, tlog-witness)
  checkpoint_malformed: 'The note is not a checkpoint of origin, tree size and root hash.',
  checkpoint_origin: 'The checkpoint has another origin than the key that signed it.',
  proof_malformed: 'The text is not a tlog-proof of version 1.',
  witness_request_malformed: 'The request is not an old size, a consistency proof and a checkpoint.',

  // Policy (C2SP tlog-policy)
  policy_size: 'The policy is larger than allowed.',
  policy_encoding: 'The policy is not UTF-8, or holds a control character other than tab and newline.',
  policy_line: 'A line of the policy is malformed.',
  policy_name: 'A name in the policy is unknown, reserved or used twice.',
  policy_duplicate_key: 'Two lines of the policy have the same public key.',
  policy_threshold: 'The threshold of a group is not between 1 and the number of its members.',
  policy_quorum: 'The policy does not have exactly one quorum line.',
  policy_limit: 'The policy has more logs, witnesses or groups than allowed.',

  // Leaves (docs/transparency-format.md)
  leaf_field: 'A field of a leaf does not have the form that the leaf format requires.',
} as const

/** The closed set of reasons. */
export type LogErrorCode = keyof typeof SENTENCES

export const LOG_ERROR_CODES: readonly LogErrorCode[] = Object.keys(SENTENCES) as LogErrorCode[]

/** The one error of this package. */
export class LogError extends Error {
  readonly code: LogErrorCode
  /** Of a policy, counted from 1. */
  readonly line: number | undefined

  constructor(
    code: LogErrorCode,
    { line, cause }: { readonly line?: number; readonly cause?: unknown } = {},
  ) {
    super(
      line === undefined ? SENTENCES[code] : `Line ${line}: ${SENTENCES[code]}`,
      cause === undefined ? {} : { cause },
    )
    this.name = 'LogError'
    this.code = code
    this.line = line
  }
}
