import type { KeyVerdictCode } from '@agent-exchange/protocol'
import type { FAULT_CODES } from '../verdict/fault-codes.ts'
import type { ClaimCode } from '../verdict/check-codes.ts'

type OwnFault = (typeof FAULT_CODES)[number]

/** Reasons of LogError have their sentences in `errors.ts`. `{name}` is a value of the check. */
export const FAULT_SENTENCES: Record<OwnFault, string> = {
  too_large: 'it is larger than {bytes} bytes',
  not_json: 'it is not JSON in one reading',
  unknown_format: 'its format is unknown',
  too_deep: 'it nests deeper than {levels} levels',
  schema: '{pointer} {message}',
  checkpoint_differs: 'its proof has another checkpoint than the capsule',
  other_log: 'it is one of another log',
  no_policy: 'no policy was given',
  no_witnesses_asked: 'the policy asks for no witness',
  quorum_not_met: '{cosigned} of {of} witnesses cosigned, which is not the quorum of the policy',
  listed_twice: 'the package is listed twice',
  other_thread: 'the package is of another thread',
  entry_missing: 'the entry is missing, or of two packages',
  needs_package: 'an entry {kind} needs one',
  differs: 'these differ: {members}',
  overlap: 'two leaves hold this entry',
  entries_missing: 'its entries are not in the capsule',
  duplicate: 'the log holds two different events number {number}, so the exchange kept two histories',
  order: 'the log holds event {number} out of order',
  missing: 'event {last} is shown, and {missing} of the events before it are left out',
  no_signature: 'nobody signed it, only the exchange says so',
  signature_mismatch: 'the signature does not fit',
  signature_copied: 'the signature was copied from another entry',
  not_recorded: 'the chain does not record it',
  key_unknown: 'the signature names no key of the signer',
  key_of_other: 'the key that signed is that of {owner}',
  other_key: 'the exchange accepted it under another key',
  unknown_receipt: 'there is no such receipt',
  other_content: 'it is about other content',
  other_organization: 'the signer belongs to {organization_id}',
  manifest_missing: 'it is missing',
  manifest_partial: 'a part of it is missing',
  manifest_unexpected: 'a native package has none',
  manifest_withheld: 'the exchange withholds it',
  not_given: 'it was not given',
  not_envelope: 'it is not an envelope of the protocol',
  other_metadata: 'it has other metadata ({members})',
  other_digest: 'its digest is another one',
  response_unsigned: 'its signatures do not hold',
  response_from_other: 'it comes from somebody else',
  response_to_other: 'it goes to somebody else',
  response_answers_other: 'it answers another package',
  accepted_twice: 'the package was accepted before',
  acceptance_states: 'acceptance does not lead to these states',
  before_acceptance: 'it comes before the acceptance',
  already_revoked: 'the package was already revoked',
  unknown_state: 'there is no such state',
  unsigned_state: 'only a signature can prove that state',
  already_there: 'the package was already further',
  states_between: 'the states in between are others',
  kind_leads_elsewhere: 'an entry of this kind does not lead there',
  too_early: 'witnesses saw the log without it later',
  too_late: 'witnesses saw the log with it earlier',
}

/** What became of a key, beside a signature by it. */
export const KEY_SENTENCES: Record<KeyVerdictCode, string> = {
  valid: 'by {key_id}',
  disowned_later: 'by {key_id}, disowned afterwards (not valid from {invalid_from} on)',
  revoked_unrecorded:
    'by {key_id}, already invalid from {invalid_from} on, which was recorded only at {recorded_at}',
  revoked: '{key_id} was revoked, not valid from {invalid_from} on',
  not_yet_valid: '{key_id} was not valid yet',
  not_a_signing_key: '{key_id} is not a signing key',
}

/** What only the exchange says. */
export const CLAIM_SENTENCES: Record<ClaimCode, string> = {
  recording: 'when and how it recorded a signed statement',
  content_fetched: 'that the content was fetched',
  delivery_replayed: 'that a notification was delivered again',
  unknown_kind: 'an entry of a kind that this verifier does not know',
  unsigned_receipt: 'an unsigned receipt',
  unsigned_revocation: 'an unsigned revocation',
  answered: 'that the package was answered (the response is not in this evidence)',
  answers: 'which package a response answers',
  membership: 'that the agent who signed belongs to the organization',
  revoked_package: 'which package the revocation is about',
  asset: 'which asset belongs to the package',
  metadata: 'metadata that no signature of the sender in this evidence covers',
  state: 'the state of a package beyond what is signed',
  delivery_attempt: 'an attempt to deliver a notification',
  entry_of_no_package: 'an entry that belongs to no package of this evidence',
  unlinked_entry: 'an entry that is in no chain',
  key_record: 'the record of a signing key',
}
