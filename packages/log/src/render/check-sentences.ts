import type { CheckCode } from '../verdict/check-codes.ts'

/** What each result means. `{name}` is a member of the check, or of its values. */
export interface CheckSentences {
  readonly holds: string
  readonly fails: string
  /** A whole sentence with what can be done about it. */
  readonly unproved: string
}

const NEVER = ''

export const CHECK_SENTENCES: Record<CheckCode, CheckSentences> = {
  capsule_readable: {
    holds: 'The file can be read',
    fails: 'The file cannot be read',
    unproved: NEVER,
  },
  format_bound: {
    holds: 'The format binds everything that is shown',
    fails: NEVER,
    unproved:
      'Format {version} binds neither all metadata nor each record: metadata can be edited, and records left out. Collect the evidence of newer packages in format 3.',
  },
  log_checkpoint: {
    holds: 'The log key of the capsule signed the checkpoint',
    fails: 'The checkpoint of the log does not hold',
    unproved: NEVER,
  },
  log_history: {
    holds: 'An earlier checkpoint leads to this one (size {size})',
    fails: 'An earlier checkpoint of the log does not lead to this one',
    unproved: NEVER,
  },
  log_pinned: {
    holds: 'A log key of the policy signed the checkpoint',
    fails: NEVER,
    unproved:
      'Whether {origin} is the log that you know. Compare the fingerprint of its key with what the operator publishes, and give it as --policy.',
  },
  log_quorum: {
    holds: 'Witnesses met the quorum of the policy ({cosigned} of {of})',
    fails: NEVER,
    unproved: 'Whether everybody sees the same log, and when it was so',
  },
  package_thread: {
    holds: 'The package is one of the thread, and is shown once',
    fails: 'A package is of another thread, or is shown twice',
    unproved: NEVER,
  },
  package_order: {
    holds: 'Packages are in the order of the log',
    fails: 'Packages are not in the order of the log',
    unproved: NEVER,
  },
  chain_positions: {
    holds: 'No entry of the package is missing up to the last that is shown',
    fails: 'An entry is missing or out of place',
    unproved: NEVER,
  },
  chain_visibility: {
    holds: 'Only entries are hidden that one party alone may see',
    fails: 'An entry of a kind that both parties may see is marked as one-sided ({kind})',
    unproved: NEVER,
  },
  chain_body: {
    holds: 'The entry has a form that can be hashed',
    fails: 'An entry has no form that can be hashed',
    unproved: NEVER,
  },
  metadata_digest: {
    holds: 'The metadata are those that the exchange signed',
    fails: 'The metadata are not those that the exchange signed',
    unproved: NEVER,
  },
  head_subject: {
    holds: 'The statement about the end of the chain is about this package',
    fails: 'The statement about the end of the chain is about something else',
    unproved: NEVER,
  },
  head_signature: {
    holds: 'The exchange signed the statement about the end of the chain',
    fails: 'The exchange did not sign the statement about the end of the chain',
    unproved: NEVER,
  },
  head_link: {
    holds: 'The chain ends as the exchange stated, or later',
    fails: 'The exchange stated another end of the chain',
    unproved: NEVER,
  },
  head_false: {
    holds: 'The exchange denied no entry that its log held',
    fails: 'The exchange denied an entry that its log held (leaf {index})',
    unproved: NEVER,
  },
  thread_hashes: {
    holds: 'Entries hash to what they say',
    fails: 'An entry does not hash to what it says',
    unproved: NEVER,
  },
  thread_links: {
    holds: 'Each entry names the one before',
    fails: 'An entry does not name the one before',
    unproved: NEVER,
  },
  thread_gaps: {
    holds: 'No entry is left out',
    fails: NEVER,
    unproved:
      'Whether entries are missing in {gaps} gaps of the chain. Only the entries of the packages in this evidence are shown; collect the evidence of the whole thread.',
  },
  thread_anchor: {
    holds: 'The chain holds what was seen before',
    fails: 'The chain does not hold what was seen before',
    unproved: NEVER,
  },
  thread_rewritten: {
    holds: 'The chain was not rewritten',
    fails: NEVER,
    unproved:
      'Whether the exchange rewrote the chain as a whole: it is hashed, not signed. Compare its end with a copy that was kept earlier, or with the other party’s.',
  },
  entry_package: {
    holds: 'Each entry belongs to a package of this evidence',
    fails: 'An entry does not belong to a package of this evidence',
    unproved: NEVER,
  },
  unlinked_entry: {
    holds: 'Entries outside of the chain prove nothing about packages',
    fails: 'An entry outside of the chain claims something about a package ({kind})',
    unproved: NEVER,
  },
  record_positions: {
    holds: 'The record covers the next entries',
    fails: 'A record is missing, or covers other entries',
    unproved: NEVER,
  },
  record_package: {
    holds: 'The record is one of the package',
    fails: 'A record is one of another package',
    unproved: NEVER,
  },
  record_leaf: {
    holds: 'The log holds the record (entries {position} to {last_position}, leaf {index})',
    fails: 'The log does not hold the record as the capsule shows it',
    unproved: NEVER,
  },
  record_order: {
    holds: 'The log holds records in the order of their entries',
    fails: 'The log holds records in another order than their entries',
    unproved: NEVER,
  },
  record_missing: {
    holds: 'Every entry is in the log',
    fails: NEVER,
    unproved:
      'Whether all entries are in the log: the capsule holds no proof from here on. Collect it again once the log has caught up.',
  },
  key_usable: {
    holds: 'Each key id names one usable key',
    fails: 'A key is unusable, or is shown twice',
    unproved: NEVER,
  },
  key_owner: {
    holds: 'Keys belong to the organizations of their agents',
    fails: 'A key belongs to another organization than its agent',
    unproved: NEVER,
  },
  key_revocations: {
    holds: 'Keys show the earliest of their revocations',
    fails: 'A key does not show the earliest of its revocations',
    unproved: NEVER,
  },
  key_trusted: {
    holds: 'The key is one that you trust',
    fails: 'The key is none of those that you trust',
    unproved:
      'Whether the key is one of {agent_id}: the exchange says so. Give the fingerprints that you have from the owner.',
  },
  key_bound: {
    holds: 'The key is the one that was registered in the log',
    fails: 'A key is not the one that was registered in the log',
    unproved: NEVER,
  },
  key_event_leaf: {
    holds: 'The log holds the key event (number {number}, leaf {index})',
    fails: 'The log does not hold key event {number} as the capsule shows it',
    unproved: NEVER,
  },
  key_event_numbers: {
    holds: 'The capsule shows every key event of {agent_id} up to number {last}',
    fails: 'A key event of {agent_id} is missing, shown twice, or out of order',
    unproved: NEVER,
  },
  key_record: {
    holds: 'The key of the evidence is the one in the log',
    fails: 'The log holds another key than the evidence',
    unproved: NEVER,
  },
  key_history: {
    holds: 'The evidence shows every event of the key',
    fails: 'The log says that the key was {kind}, and the evidence does not',
    unproved: NEVER,
  },
  key_registration: {
    holds: 'The log shows since when it knows the key',
    fails: NEVER,
    unproved:
      'Since when the log knows the key. The capsule holds no proof of its registration, so the exchange could have added it afterwards.',
  },
  key_event_proof: {
    holds: 'The log shows what happened to the key',
    fails: NEVER,
    unproved: 'When the key was {kind}. The capsule holds no proof of that event.',
  },
  key_logged_before_use: {
    holds: 'The key was logged before its use, and not revoked before it',
    fails: 'The key entered the log after what it signed: it was backdated',
    unproved: NEVER,
  },
  key_used_before_revocation: {
    holds: 'The key was used before it was revoked',
    fails: NEVER,
    unproved:
      'Whether the key was used before it was revoked. The log holds its revocation (key event {number}, leaf {revoked_index}) first; only the exchange says that the use came first.',
  },
  later_key_events: {
    holds: 'Nothing happened to keys later',
    fails: NEVER,
    unproved:
      'Whether keys of {agent_id} changed after key event {last}. Scan the log for the next numbers, or ask the owner.',
  },
  acceptance_signature: {
    holds: 'The exchange signed that it accepted the package',
    fails: 'The acceptance by the exchange is not proved by its signature',
    unproved: NEVER,
  },
  acceptance_subject: {
    holds: 'The acceptance is about this package',
    fails: 'The acceptance is about another package',
    unproved: NEVER,
  },
  acceptance_key: {
    holds: 'The key with which the exchange verified the package was valid',
    fails: 'The key with which the exchange verified the package was not valid',
    unproved: NEVER,
  },
  policy_receipt_signature: {
    holds: 'The sender signed the policy receipt',
    fails: 'The policy receipt is not proved by the signature of the sender',
    unproved: NEVER,
  },
  policy_receipt_subject: {
    holds: 'The policy receipt covers the package',
    fails: 'The policy receipt covers another package',
    unproved: NEVER,
  },
  policy_receipt_eligible: {
    holds: 'The policy checks passed, and a required approval is there',
    fails: 'A policy check did not pass, or a required approval is missing',
    unproved: NEVER,
  },
  policy_evaluated: {
    holds: 'The policy is the one that was evaluated',
    fails: 'The policy is not the one that was evaluated',
    unproved: 'Which policy was evaluated: only its digest is known. Give the policy_envelope to compare.',
  },
  manifest_signature: {
    holds: 'The sender signed the manifest of the transfer',
    fails: 'The manifest of the transfer is not proved by the signature of the sender',
    unproved:
      'The signature of the sender over the manifest of the transfer. After a revocation the exchange shows it to the sender only; ask the sender for its evidence.',
  },
  manifest_key: {
    holds: 'The exchange accepted the manifest under the key that signed it',
    fails: 'The exchange accepted the manifest under another key',
    unproved: NEVER,
  },
  content_signature: {
    holds: 'The sender signed the content',
    fails: 'The content is not proved by the signature of the sender',
    unproved:
      'The signature of the sender over the content: evidence holds metadata only. Give the envelope as it was downloaded.',
  },
  disclosure_signature: {
    holds: '{agent_id} signed that it discloses the content',
    fails: 'The disclosure of the content is not proved by a signature of a party',
    unproved: NEVER,
  },
  disclosure_content: {
    holds: 'The content opens under the disclosed key',
    fails: 'The content does not open under the disclosed key',
    unproved: NEVER,
  },
  disclosure_key: {
    holds: 'The disclosed key is the one under which the content was sealed',
    fails: 'The disclosed key, or what was sealed with the content, contradicts the package',
    unproved:
      'Whether the recipient read the content that is disclosed: its sender alone shows it, and committed to no key. Ask the recipient to disclose it.',
  },
  receipt_signature: {
    holds: '{agent_id} signed the receipt “{state}”',
    fails: 'The receipt “{state}” is not proved by a signature of the recipient',
    unproved: NEVER,
  },
  revocation_signature: {
    holds: '{agent_id} signed the revocation',
    fails: 'The revocation is not proved by a signature of the sender',
    unproved: NEVER,
  },
  response_package: {
    holds: 'The response {response} is a package of the recipient',
    fails: 'The response {response} is not an answer of the recipient',
    unproved: NEVER,
  },
  response_recorded: {
    holds: 'The chain records what the package answers',
    fails: 'The chain does not record what the package answers',
    unproved: NEVER,
  },
  entry_repeats_signed: {
    holds: 'Entries repeat what was signed',
    fails: 'An entry says something else than what was signed ({members})',
    unproved: NEVER,
  },
  entry_state: {
    holds: 'States follow from the entries',
    fails: 'A state does not follow from the entries',
    unproved: NEVER,
  },
  recorded_order: {
    holds: 'Recorded times never run backwards',
    fails: NEVER,
    unproved: NEVER,
  },
  recorded_time: {
    holds: 'Witnesses confirm the recorded time',
    fails: 'Witnesses refute the recorded time {recorded_at} by more than a day',
    unproved: 'Whether the entry was recorded at {recorded_at}: witnesses saw the log otherwise.',
  },
  earlier_checkpoint: {
    holds: 'Witnessed checkpoints from before the entries bound their recorded times',
    fails: NEVER,
    unproved:
      'Whether entries were recorded as early as they say: no witnessed checkpoint from before them is shown. Whoever passes a capsule on can remove it; collect the evidence again, or ask a party for it.',
  },
  later_events: {
    holds: 'Nothing was recorded later',
    fails: NEVER,
    unproved:
      'Whether something was recorded later. Inclusion is not completeness: scan the log for the labels of the packages, or compare with the other party.',
  },
  revocation_time: {
    holds: 'Revocations are signed',
    fails: NEVER,
    unproved:
      'When a key was revoked: the exchange records it and signs no statement of it. Compare with the owner of the key.',
  },
  statement_times: {
    holds: 'The times of statements are confirmed',
    fails: NEVER,
    unproved:
      'The times of receipts and revocations: they are the claim of the signer and the record of the exchange.',
  },
  truth: {
    holds: 'What was said is true',
    fails: NEVER,
    unproved: 'Whether what was said is true: a signature proves who said it, not that it is so.',
  },
}
