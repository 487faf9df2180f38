import type { LogErrorCode } from '../errors.ts'

/** Why a check does not hold, or why nothing proves it, beside the reasons of LogError. */
export const FAULT_CODES = [
  // The file
  'too_large',
  'not_json',
  'unknown_format',
  'too_deep',
  'schema',
  // The log
  'checkpoint_differs',
  'other_log',
  'no_policy',
  'no_witnesses_asked',
  'quorum_not_met',
  // Entries and records
  'listed_twice',
  'other_thread',
  'entry_missing',
  'needs_package',
  'differs',
  'overlap',
  'entries_missing',
  // Key events
  'duplicate',
  'order',
  'missing',
  // Signatures
  'no_signature',
  'signature_mismatch',
  'signature_copied',
  'not_recorded',
  'key_unknown',
  'key_of_other',
  'other_key',
  'unknown_receipt',
  'other_content',
  'other_organization',
  'manifest_missing',
  'manifest_partial',
  'manifest_unexpected',
  'manifest_withheld',
  'not_given',
  'not_envelope',
  'other_metadata',
  'other_digest',
  // Answers
  'response_unsigned',
  'response_from_other',
  'response_to_other',
  'response_answers_other',
  // States
  'accepted_twice',
  'acceptance_states',
  'before_acceptance',
  'already_revoked',
  'unknown_state',
  'unsigned_state',
  'already_there',
  'states_between',
  'kind_leads_elsewhere',
  // Times
  'too_early',
  'too_late',
] as const

export type FaultCode = (typeof FAULT_CODES)[number] | LogErrorCode
