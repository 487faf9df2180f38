import { Type, type Static } from 'typebox'
import { inUse, ours as fills } from './schema/annotations.ts'
import { define } from './schema/define.ts'

/** The nine categories that the specification expects, then those that we need beside them (O-11). */
export const PROBLEM_CATEGORIES = [
  'authentication',
  'authorization',
  'recipient_capability',
  'version_compatibility',
  'duplicate_idempotency',
  'invalid_state_transition',
  'expired_package',
  'rate_limit',
  'transport_failure',
  'request',
  'integrity',
  'policy',
  'not_found',
  'conflict',
  'availability',
] as const

export type ProblemCategory = (typeof PROBLEM_CATEGORIES)[number]

export interface ProblemDefinition {
  readonly status: number
  readonly title: string
  readonly retryable: boolean
  readonly category: ProblemCategory
  /** Who fixed code and status: the specification shows two, the rest fill O-11. */
  readonly basis: 'specification' | 'profile'
  /** What a caller should do about it; the page behind `type` says it too. */
  readonly advice: string
}

const ours = { retryable: false, basis: 'profile' } as const

/** The closed union of everything that can go wrong, and the one place where it gets a status. */
export const problems = {
  protocol_version_incompatible: {
    status: 409,
    title: 'The recipient does not support this protocol version',
    retryable: false,
    category: 'version_compatibility',
    basis: 'specification',
    advice: 'Send with one of the versions in details.supported_versions.',
  },
  idempotency_key_reuse: {
    status: 409,
    title: 'The idempotency key was used with different content',
    retryable: false,
    category: 'duplicate_idempotency',
    basis: 'specification',
    advice: 'Use a new Idempotency-Key for a new request; repeat a request only with the very same content.',
  },

  access_token_missing: {
    ...ours,
    status: 401,
    title: 'An access token is required',
    category: 'authentication',
    advice: 'Get a token from the authorization server that /.well-known/oauth-protected-resource names.',
  },
  access_token_invalid: {
    ...ours,
    status: 401,
    title: 'The access token is not valid',
    category: 'authentication',
    advice: 'Get a new token: this one is expired, damaged, or meant for another service.',
  },
  client_certificate_mismatch: {
    ...ours,
    status: 401,
    title: 'The access token is bound to another client certificate',
    category: 'authentication',
    advice: 'Connect with the certificate that was shown when the token was issued.',
  },
  client_certificate_required: {
    ...ours,
    status: 401,
    title: 'This deployment requires a client certificate',
    category: 'authentication',
    advice: 'Connect with mutual TLS at the token endpoint and here.',
  },
  caller_suspended: {
    ...ours,
    status: 403,
    title: 'The organization or client is suspended',
    category: 'authorization',
    advice: 'Ask the operator of the exchange.',
  },
  not_permitted: {
    ...ours,
    status: 403,
    title: 'The caller may not do this',
    category: 'authorization',
    advice: 'Act only for your own organization and, with a client of one agent, only as that agent.',
  },

  recipient_not_capable: {
    ...ours,
    status: 409,
    title: 'The recipient cannot receive this package',
    category: 'recipient_capability',
    advice: 'details.reason says what the recipient lacks; look its agent and keys up in the directory.',
  },
  invalid_state_transition: {
    ...ours,
    status: 409,
    title: 'The current state does not allow this',
    category: 'invalid_state_transition',
    advice: 'details.state is the current state; fetch the resource before deciding again.',
  },
  package_expired: {
    ...ours,
    status: 410,
    title: 'The package has expired',
    category: 'expired_package',
    advice: 'Ask the sender for a new package; its record and evidence stay readable.',
  },
  package_revoked: {
    ...ours,
    status: 410,
    title: 'The package was revoked',
    category: 'invalid_state_transition',
    advice: 'The sender withdrew it; its record and evidence stay readable.',
  },
  rate_limited: {
    ...ours,
    status: 429,
    title: 'Too many requests',
    retryable: true,
    category: 'rate_limit',
    advice: 'Wait for the seconds in Retry-After, then repeat with the same Idempotency-Key.',
  },
  quota_reached: {
    ...ours,
    status: 409,
    title: 'A quota is used up',
    category: 'rate_limit',
    advice:
      'details.quota names the quota of the deployment profile (O-13, O-31), details.maximum its value. Remove what is no longer needed, wait for retention, or ask the operator for more.',
  },
  transport_mode_mismatch: {
    ...ours,
    status: 409,
    title: 'The thread uses the other transport mode',
    category: 'transport_failure',
    advice: 'Send in the mode named by details.required_mode.',
  },
  connector_not_approved: {
    ...ours,
    status: 409,
    title: 'There is no approved connector connection for this transfer',
    category: 'transport_failure',
    advice: 'Use an approved connector of the sending organization, or ask the operator to approve it.',
  },

  header_missing: {
    ...ours,
    status: 400,
    title: 'A required header is missing',
    category: 'request',
    advice: 'Send the header that details.header names.',
  },
  header_invalid: {
    ...ours,
    status: 400,
    title: 'A header has a value that cannot be used',
    category: 'request',
    advice: 'Send the header that details.header names once, with visible ASCII characters only.',
  },
  malformed_request: {
    ...ours,
    status: 400,
    title: 'The request cannot be read',
    category: 'request',
    advice: 'Send valid UTF-8 JSON without duplicate members, not nested deeper than the limit.',
  },
  validation_failed: {
    ...ours,
    status: 422,
    title: 'The request does not match its schema',
    category: 'request',
    advice: 'details.failures lists each place, the rule, and what to do.',
  },
  cursor_invalid: {
    ...ours,
    status: 400,
    title: 'The cursor was not made by this exchange for this listing',
    category: 'request',
    advice: 'Return a cursor exactly as it came, or leave it out to start at the beginning.',
  },
  cursor_expired: {
    ...ours,
    status: 410,
    title: 'The cursor is older than what is retained',
    category: 'request',
    advice: 'Start again without a cursor and reconcile: entries in between are gone from the stream.',
  },
  payload_too_large: {
    ...ours,
    status: 413,
    title: 'The request is too large',
    category: 'request',
    advice: 'Stay below details.maximum_bytes.',
  },
  media_type_unsupported: {
    ...ours,
    status: 415,
    title: 'The media type or content encoding is not supported',
    category: 'request',
    advice: 'Send application/json without Content-Encoding, or with identity.',
  },
  method_not_allowed: {
    ...ours,
    status: 405,
    title: 'This address does not take that method',
    category: 'request',
    advice: 'Use a method that the Allow header lists.',
  },
  request_timeout: {
    ...ours,
    status: 408,
    title: 'The request took too long to arrive',
    retryable: true,
    category: 'request',
    advice: 'Repeat it with the same Idempotency-Key.',
  },

  private_key_refused: {
    ...ours,
    status: 422,
    title: 'The request holds private key material',
    category: 'integrity',
    advice: 'Treat that key as exposed and make a new one; only the public part belongs in a request.',
  },
  public_key_invalid: {
    ...ours,
    status: 422,
    title: 'The public key cannot be used',
    category: 'integrity',
    advice: 'Send a JWK with kty EC, crv P-256 and a point on that curve.',
  },
  signature_invalid: {
    ...ours,
    status: 422,
    title: 'The signature does not verify',
    category: 'integrity',
    advice:
      'details.reason says which step failed. Sign the exact bytes or the RFC 8785 form with the named key.',
  },
  signing_key_unusable: {
    ...ours,
    status: 422,
    title: 'The signing key cannot be used for this',
    category: 'integrity',
    advice: 'Sign with a registered, valid, unrevoked signing key of the acting agent.',
  },
  encryption_key_unusable: {
    ...ours,
    status: 422,
    title: 'A recipient key of the sealed package cannot be used',
    category: 'integrity',
    advice: 'Seal to active encryption keys from the directory: one of the sender, one of the recipient.',
  },
  envelope_invalid: {
    ...ours,
    status: 422,
    title: 'The sealed package does not have the required form',
    category: 'integrity',
    advice: 'details.reason says which rule of the envelope is broken.',
  },
  digest_mismatch: {
    ...ours,
    status: 422,
    title: 'A digest does not match what was sent',
    category: 'integrity',
    advice: 'Compute the digest again over the bytes that are sent.',
  },
  signature_reused: {
    ...ours,
    status: 409,
    title: 'The signature was already used for another package',
    category: 'integrity',
    advice: 'Sign a statement of its own for each package.',
  },

  policy_receipt_missing: {
    ...ours,
    status: 409,
    title: 'There is no such policy receipt for this package',
    category: 'policy',
    advice: 'Create the policy receipt first, then name it in metadata.policy_receipt_id.',
  },
  policy_receipt_ineligible: {
    ...ours,
    status: 409,
    title: 'The policy receipt does not authorize the package',
    category: 'policy',
    advice: 'All five checks must have passed and a required approval must be given.',
  },
  policy_receipt_mismatch: {
    ...ours,
    status: 409,
    title: 'The policy receipt is about something else',
    category: 'policy',
    advice: 'details.members lists what differs between the receipt and the package metadata.',
  },

  resource_not_found: {
    ...ours,
    status: 404,
    title: 'There is nothing here for this caller',
    category: 'not_found',
    advice: 'Check the id. What exists but belongs to others is answered in the same way.',
  },
  identifier_conflict: {
    ...ours,
    status: 409,
    title: 'The identifier cannot be used',
    category: 'conflict',
    advice: 'Make a new identifier with enough randomness.',
  },
  key_not_distinct: {
    ...ours,
    status: 409,
    title: 'The replacement key is not distinct',
    category: 'conflict',
    advice: 'Use another key id and other key material than the key that is replaced.',
  },
  response_mismatch: {
    ...ours,
    status: 422,
    title: 'The response does not fit the package it answers',
    category: 'request',
    advice:
      'Use the thread and the parties of the package in the path, and name it in responds_to_package_id.',
  },
  acknowledgement_mismatch: {
    ...ours,
    status: 422,
    title: 'The acknowledgement does not fit the notification',
    category: 'request',
    advice: 'Acknowledge with the event_id of that notification.',
  },

  service_overloaded: {
    ...ours,
    status: 503,
    title: 'The exchange is busy',
    retryable: true,
    category: 'availability',
    advice: 'Wait for the seconds in Retry-After, then repeat with the same Idempotency-Key.',
  },
  database_unavailable: {
    ...ours,
    status: 503,
    title: 'The database of the exchange cannot be reached',
    retryable: true,
    category: 'availability',
    advice: 'Wait for the seconds in Retry-After, then repeat with the same Idempotency-Key.',
  },
  internal_error: {
    ...ours,
    status: 500,
    title: 'Something failed on our side',
    retryable: true,
    category: 'availability',
    advice: 'Repeat with the same Idempotency-Key; if it stays, give the operator the correlation_id.',
  },
} as const satisfies Record<string, ProblemDefinition>

export type ProblemCode = keyof typeof problems

export const PROBLEM_CODES = Object.keys(problems) as ProblemCode[]

/** The last part of a problem's `type`. */
export function problemSlug(code: ProblemCode): string {
  return code.replaceAll('_', '-')
}

export const problemDetails = define(
  'Problem',
  Type.Object({
    type: Type.String({ format: 'uri', description: 'the address of a page that explains the problem' }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    code: Type.String({ ...fills('O-11'), ...inUse(...PROBLEM_CODES) }),
    correlation_id: Type.String(),
    retryable: Type.Boolean(),
    details: Type.Object({}, { additionalProperties: true }),
  }),
)

export type ProblemDetails = Static<typeof problemDetails>
