/** The nine categories that the specification expects, followed by our own (O-11). */
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
  /** Source of code and status: the specification defines two, the others are ours (O-11). */
  readonly basis: 'specification' | 'profile'
  /** What the caller should do; also shown on the page behind `type`. */
  readonly advice: string
}

const ours = { retryable: false, basis: 'profile' } as const
const unavailable = { ...ours, status: 503, retryable: true, category: 'availability' } as const

/** All problems, and the only place that maps them to a status. */
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
    advice: 'Use a new Idempotency-Key for a new request; retry a request only with identical content.',
  },

  access_token_missing: {
    ...ours,
    status: 401,
    title: 'An access token is required',
    category: 'authentication',
    advice: 'Request a token from the authorization server that /.well-known/oauth-protected-resource names.',
  },
  access_token_invalid: {
    ...ours,
    status: 401,
    title: 'The access token is not valid',
    category: 'authentication',
    advice: 'Request a new token: this one is expired, malformed, or issued for another service.',
  },
  client_certificate_mismatch: {
    ...ours,
    status: 401,
    title: 'The access token is bound to another client certificate',
    category: 'authentication',
    advice: 'Connect with the certificate that was used to request the token.',
  },
  client_certificate_required: {
    ...ours,
    status: 401,
    title: 'This deployment requires a client certificate',
    category: 'authentication',
    advice: 'Use mutual TLS for the token endpoint and for this API.',
  },
  caller_suspended: {
    ...ours,
    status: 403,
    title: 'The organization or client is suspended',
    category: 'authorization',
    advice: 'Contact the operator of the exchange.',
  },
  not_permitted: {
    ...ours,
    status: 403,
    title: 'The caller may not do this',
    category: 'authorization',
    advice:
      'Act only for your own organization and, with a client of one agent, only as that agent. In the operator API, details.required_role names the role that is needed.',
  },
  invitation_refused: {
    ...ours,
    status: 403,
    title: 'The invitation cannot be used',
    category: 'authorization',
    advice:
      'The invitation is unknown, expired, revoked, or was used with another key. Ask the operator of the exchange for a new one.',
  },

  recipient_not_capable: {
    ...ours,
    status: 409,
    title: 'The recipient cannot receive this package',
    category: 'recipient_capability',
    advice:
      'details.reason, if there is one, says what the recipient lacks. Check its agent and its keys in the directory, or ask the recipient.',
  },
  invalid_state_transition: {
    ...ours,
    status: 409,
    title: 'The current state does not allow this',
    category: 'invalid_state_transition',
    advice: 'details.state is the current state. Fetch the resource before you decide again.',
  },
  package_expired: {
    ...ours,
    status: 410,
    title: 'The package has expired',
    category: 'expired_package',
    advice: 'Ask the sender for a new package. The record and its evidence remain readable.',
  },
  package_revoked: {
    ...ours,
    status: 410,
    title: 'The package was revoked',
    category: 'invalid_state_transition',
    advice: 'The sender withdrew the package. The record and its evidence remain readable.',
  },
  rate_limited: {
    ...ours,
    status: 429,
    title: 'Too many requests',
    retryable: true,
    category: 'rate_limit',
    advice: 'Wait for the number of seconds in Retry-After, then retry with the same Idempotency-Key.',
  },
  quota_reached: {
    ...ours,
    status: 409,
    title: 'A quota is exhausted',
    category: 'rate_limit',
    advice:
      'details.quota names the quota of the deployment profile (O-13, O-31), details.maximum its value. Delete unneeded resources, wait for retention or, for a quota of a day, until 00:00 UTC, or ask the operator to raise the quota.',
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
    title: 'A header has an invalid value',
    category: 'request',
    advice: 'Send the header that details.header names once, with visible ASCII characters only.',
  },
  malformed_request: {
    ...ours,
    status: 400,
    title: 'The request is malformed',
    category: 'request',
    advice: 'Send valid UTF-8 JSON without duplicate members, not nested deeper than the limit.',
  },
  validation_failed: {
    ...ours,
    status: 422,
    title: 'The request does not match its schema',
    category: 'request',
    advice: 'details.failures lists the location, the rule and advice for each failure.',
  },
  cursor_invalid: {
    ...ours,
    status: 400,
    title: 'The cursor is not valid for this list',
    category: 'request',
    advice: 'Send a cursor exactly as you received it, or omit it to start at the beginning.',
  },
  cursor_expired: {
    ...ours,
    status: 410,
    title: 'The cursor is older than the retained entries',
    category: 'request',
    advice: 'Start without a cursor and reconcile: some entries have been removed from the stream.',
  },
  payload_too_large: {
    ...ours,
    status: 413,
    title: 'The request is too large',
    category: 'request',
    advice: 'Send at most details.maximum_bytes.',
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
    title: 'The method is not allowed for this URL',
    category: 'request',
    advice: 'Use a method that the Allow header lists.',
  },
  request_timeout: {
    ...ours,
    status: 408,
    title: 'The request took too long to arrive',
    retryable: true,
    category: 'request',
    advice: 'Retry with the same Idempotency-Key.',
  },

  private_key_refused: {
    ...ours,
    status: 422,
    title: 'The request contains private key material',
    category: 'integrity',
    advice: 'Treat the key as compromised and generate a new one. Send only public keys.',
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
      'details.reason names the failed step. Sign the exact bytes or the RFC 8785 form with the named key.',
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
    advice:
      'Seal for two active encryption keys from the directory: one of the sender and one of the recipient.',
  },
  envelope_invalid: {
    ...ours,
    status: 422,
    title: 'The envelope or the sealed package is malformed',
    category: 'integrity',
    advice: 'details.reason names the violated rule.',
  },
  digest_mismatch: {
    ...ours,
    status: 422,
    title: 'A digest does not match the content',
    category: 'integrity',
    advice: 'Compute the digest over the bytes that you send.',
  },
  signature_reused: {
    ...ours,
    status: 409,
    title: 'The signature was already used for another package',
    category: 'integrity',
    advice: 'Sign a separate statement for each package.',
  },

  policy_receipt_missing: {
    ...ours,
    status: 409,
    title: 'The policy receipt does not exist',
    category: 'policy',
    advice: 'Create the policy receipt first, then name it in metadata.policy_receipt_id.',
  },
  policy_receipt_ineligible: {
    ...ours,
    status: 409,
    title: 'The policy receipt does not authorize the package',
    category: 'policy',
    advice: 'All five checks must have passed, and a required approval must have been given.',
  },
  policy_receipt_mismatch: {
    ...ours,
    status: 409,
    title: 'The policy receipt does not match the package',
    category: 'policy',
    advice: 'details.members lists what differs between the receipt and the package metadata.',
  },

  resource_not_found: {
    ...ours,
    status: 404,
    title: 'The resource was not found',
    category: 'not_found',
    advice: 'Check the id. A resource of another organization gets the same response.',
  },
  identifier_conflict: {
    ...ours,
    status: 409,
    title: 'The identifier cannot be used',
    category: 'conflict',
    advice: 'Generate a new identifier with enough randomness.',
  },
  key_not_distinct: {
    ...ours,
    status: 409,
    title: 'The replacement key is not distinct',
    category: 'conflict',
    advice: 'Use a key id and key material that differ from those of the replaced key.',
  },
  response_mismatch: {
    ...ours,
    status: 422,
    title: 'The response does not match the package',
    category: 'request',
    advice:
      'Use the thread and the parties of the package in the path, and name it in responds_to_package_id.',
  },
  acknowledgement_mismatch: {
    ...ours,
    status: 422,
    title: 'The acknowledgement does not match the notification',
    category: 'request',
    advice: 'Acknowledge with the event_id of that notification.',
  },

  service_overloaded: {
    ...unavailable,
    title: 'The exchange is overloaded',
    advice: 'Wait for the number of seconds in Retry-After, then retry with the same Idempotency-Key.',
  },
  database_unavailable: {
    ...unavailable,
    title: 'The database is unavailable',
    advice: 'Wait for the number of seconds in Retry-After, then retry with the same Idempotency-Key.',
  },
  signing_unavailable: {
    ...unavailable,
    title: 'The exchange cannot sign now',
    advice:
      'The module that holds the keys of the exchange is away. Wait for the number of seconds in Retry-After, then retry with the same Idempotency-Key.',
  },
  log_damaged: {
    ...unavailable,
    title: 'The transparency log cannot give this proof',
    advice:
      'A stored part of the log is damaged, and the operator was alerted. Try again once the operator has restored it; packages and evidence without proofs are not affected.',
  },
  internal_error: {
    ...ours,
    status: 500,
    title: 'Internal error',
    retryable: true,
    category: 'availability',
    advice:
      'Retry with the same Idempotency-Key. If the problem persists, give the operator the correlation_id.',
  },
} as const satisfies Record<string, ProblemDefinition>

export type ProblemCode = keyof typeof problems

export const PROBLEM_CODES = Object.keys(problems) as ProblemCode[]

/** The last part of a problem's `type`. */
export function problemSlug(code: ProblemCode): string {
  return code.replaceAll('_', '-')
}
