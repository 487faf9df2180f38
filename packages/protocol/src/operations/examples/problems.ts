import type { ProblemDetails } from '../../problem-details.ts'
import { problems, problemSlug, type ProblemCode } from '../../problems.ts'
import { DEFAULT_PROFILE } from '../../profile/profile.ts'
import { HEADER, PROTOCOL_VERSION } from '../../wire.ts'

const { 'O-13': quotas, 'O-14': sizes } = DEFAULT_PROFILE

/** What `details` holds where a problem says more; others have none. */
const DETAILS: Partial<Record<ProblemCode, object>> = {
  protocol_version_incompatible: { supported_versions: [PROTOCOL_VERSION] },
  access_token_invalid: { reason: 'expired' },
  not_permitted: { reason: 'agent_not_active' },
  recipient_not_capable: { reason: 'encryption_key' },
  invalid_state_transition: { state: 'opened' },
  rate_limited: { retry_after_seconds: 1 },
  quota_reached: { quota: 'webhook_endpoints', maximum: quotas.webhook_endpoints },
  transport_mode_mismatch: { required_mode: 'ds_x' },
  connector_not_approved: { party: 'recipient' },
  header_missing: { header: HEADER.correlationId },
  header_invalid: { header: HEADER.correlationId },
  malformed_request: { reason: 'json_syntax', offset: 17 },
  validation_failed: {
    failures: [
      {
        pointer: '/implementation',
        rule: 'ID-01',
        message: 'Add the member "implementation"; it is required here.',
      },
    ],
  },
  payload_too_large: { maximum_bytes: sizes.request_bytes },
  media_type_unsupported: { reason: 'content_encoding' },
  private_key_refused: { pointer: '/keys/0/public_key' },
  public_key_invalid: { pointer: '/keys/0/public_key', reason: 'key_not_on_curve' },
  signature_invalid: { reason: 'signature_mismatch' },
  signing_key_unusable: { reason: 'revoked' },
  encryption_key_unusable: { reason: 'unknown' },
  envelope_invalid: { reason: 'sealed_recipient_count' },
  digest_mismatch: { member: 'content_digest' },
  policy_receipt_mismatch: { members: ['content_digest'] },
  key_not_distinct: { pointer: '/replaces_key_id' },
  response_mismatch: { members: ['thread_id'] },
  acknowledgement_mismatch: { members: ['event_id'] },
  service_overloaded: { retry_after_seconds: 1 },
  database_unavailable: { retry_after_seconds: 1 },
  signing_unavailable: { retry_after_seconds: 5 },
}

/** `base` is the base of problem types, without a final slash. */
export function problemExample(code: ProblemCode, base: string): ProblemDetails {
  const { title, status, retryable } = problems[code]
  return {
    type: `${base}/${problemSlug(code)}`,
    title,
    status,
    code,
    correlation_id: 'corr_seat_rails_w12',
    retryable,
    details: DETAILS[code] ?? {},
  }
}
