import { problems as exchangeProblems, type ProblemDefinition } from '@agent-exchange/protocol'

const ours = { retryable: false, basis: 'profile' } as const

/** Problems of the gateway's API, and the only place that maps them to a status. Shared codes mean what they mean at an exchange. */
export const gatewayProblems = {
  access_token_missing: {
    ...exchangeProblems.access_token_missing,
    title: 'An API key or an access token is required',
    advice:
      'Send "Authorization: Bearer" with an API key (aex gateway system add) or a token of your identity provider.',
  },
  access_token_invalid: {
    ...exchangeProblems.access_token_invalid,
    title: 'The API key or access token is not valid',
    advice:
      'The key is unknown or revoked, or the token is expired, malformed, or issued for another service.',
  },
  not_permitted: {
    ...exchangeProblems.not_permitted,
    title: 'The system may not do this',
    advice:
      'details.verb names what is missing. An administrator decides what a system may do: aex gateway system add NAME --may VERBS.',
  },
  resource_not_found: {
    ...exchangeProblems.resource_not_found,
    advice: 'Check the id. A resource of an agent that the system may not act for gets the same response.',
  },
  header_missing: exchangeProblems.header_missing,
  header_invalid: exchangeProblems.header_invalid,
  malformed_request: exchangeProblems.malformed_request,
  validation_failed: exchangeProblems.validation_failed,
  payload_too_large: exchangeProblems.payload_too_large,
  media_type_unsupported: exchangeProblems.media_type_unsupported,
  method_not_allowed: exchangeProblems.method_not_allowed,
  request_timeout: exchangeProblems.request_timeout,
  rate_limited: exchangeProblems.rate_limited,
  idempotency_key_reuse: exchangeProblems.idempotency_key_reuse,
  idempotency_key_in_use: {
    ...ours,
    status: 409,
    title: 'A request with this idempotency key is running',
    retryable: true,
    category: 'duplicate_idempotency',
    advice:
      'Wait for the number of seconds in Retry-After, then send the same request again to get its answer.',
  },
  lease_stale: {
    ...ours,
    status: 409,
    title: 'The lease has ended',
    category: 'invalid_state_transition',
    advice: 'The item may be leased by another consumer. Discard what you did for it, and take it again.',
  },
  policy_unknown: {
    ...ours,
    status: 422,
    title: 'The agent has no such policy',
    category: 'policy',
    advice: 'details.policies lists those that an administrator gave to the agent (aex gateway policy add).',
  },
  policy_refused: {
    ...ours,
    status: 409,
    title: 'The policy does not allow this package',
    category: 'policy',
    advice:
      'details.checks lists the checks that failed. Change the content, or draft it under another policy.',
  },
  draft_declined: {
    ...ours,
    status: 409,
    title: 'A person declined the draft',
    category: 'policy',
    advice: 'Nothing was sent. Ask for the reason, and write another draft.',
  },
  content_gone: {
    ...ours,
    status: 410,
    title: 'The content was deleted',
    category: 'expired_package',
    advice: 'Its retention has ended. Its capsule still proves what was sent and received.',
  },
  exchange_refused: {
    ...ours,
    status: 409,
    title: 'The exchange or the agent refused this',
    category: 'conflict',
    advice:
      'details.code says why; details.exchange is the problem of the exchange, where it answered with one.',
  },
  exchange_unavailable: {
    ...ours,
    status: 503,
    title: 'The exchange cannot be reached',
    retryable: true,
    category: 'availability',
    advice: 'Wait for the number of seconds in Retry-After, then retry with the same Idempotency-Key.',
  },
  key_module_unavailable: {
    ...ours,
    status: 503,
    title: 'The keys of the agent cannot be used now',
    retryable: true,
    category: 'availability',
    advice:
      'The module that holds the keys does not answer. Wait for the number of seconds in Retry-After, then retry with the same Idempotency-Key.',
  },
  draft_limit: {
    ...ours,
    status: 409,
    title: 'There is no room for another draft',
    category: 'conflict',
    advice:
      'details.of says whose share is full: that of this system, of all systems, or of the agent. Send drafts, or have a person discard them at the desk. Drafts of systems that are not sent end after 14 days.',
  },
  service_overloaded: { ...exchangeProblems.service_overloaded, title: 'The gateway is overloaded' },
  database_unavailable: exchangeProblems.database_unavailable,
  internal_error: exchangeProblems.internal_error,
} as const satisfies Record<string, ProblemDefinition>

export type GatewayProblemCode = keyof typeof gatewayProblems

export const GATEWAY_PROBLEM_CODES = Object.keys(gatewayProblems) as GatewayProblemCode[]

/** An expected failure. Only `api` and `mcp` map it to an answer. */
export class GatewayProblem extends Error {
  override readonly name = 'GatewayProblem'
  readonly code: GatewayProblemCode
  /** Never contains content, a token or a key. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    code: GatewayProblemCode,
    details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(gatewayProblems[code].title, options)
    this.code = code
    this.details = details
  }
}
