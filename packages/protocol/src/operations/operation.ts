import type { TObject } from 'typebox'
import type { ProblemCode } from '../problems.ts'
import type { Named } from '../schema/define.ts'

export interface Operation {
  readonly method: 'GET' | 'POST'
  /** Path template as in OpenAPI: `{name}` is a path parameter. */
  readonly path: `/v1/${string}`
  readonly area: 'agents' | 'skills' | 'policy-receipts' | 'packages' | 'threads' | 'notifications' | 'audit'
  readonly summary: string
  /** A mutation needs an Idempotency-Key; a retry has no second effect. */
  readonly mutation: boolean
  readonly query?: TObject
  readonly request?: Named<unknown>
  readonly success: { readonly status: 200 | 201 | 202; readonly body: Named<unknown> }
  /** Problems of this operation, in addition to the common ones. */
  readonly problems: readonly ProblemCode[]
}

/** Problems of every operation. */
export const COMMON_PROBLEMS = [
  'header_missing',
  'header_invalid',
  'malformed_request',
  'access_token_missing',
  'access_token_invalid',
  'client_certificate_mismatch',
  'client_certificate_required',
  'caller_suspended',
  'not_permitted',
  'rate_limited',
  'request_timeout',
  'service_overloaded',
  'database_unavailable',
  'internal_error',
] as const satisfies ProblemCode[]

/** Additional problems of every mutation, which has a body and an idempotency key. */
export const MUTATION_PROBLEMS = [
  'idempotency_key_reuse',
  'payload_too_large',
  'media_type_unsupported',
] as const satisfies ProblemCode[]

/** Every problem that an operation may answer. */
export function problemsOf(operation: Operation): ProblemCode[] {
  const isValidated = operation.request !== undefined || operation.query !== undefined
  return [
    ...operation.problems,
    ...COMMON_PROBLEMS,
    ...(isValidated ? (['validation_failed'] as const) : []),
    ...(operation.mutation ? MUTATION_PROBLEMS : []),
  ]
}

/** Names of the path parameters, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
}
