import type { TObject } from 'typebox'
import type { ProblemCode } from '../problems.ts'
import type { Named } from '../schema/define.ts'

export interface Operation {
  readonly method: 'GET' | 'POST'
  /** Path template as in OpenAPI: `{name}` stands for a path parameter. */
  readonly path: `/v1/${string}`
  readonly area: 'agents' | 'skills' | 'policy-receipts' | 'packages' | 'threads' | 'notifications' | 'audit'
  readonly summary: string
  /** A mutation needs an Idempotency-Key and is repeated without a second effect. */
  readonly mutation: boolean
  readonly query?: TObject
  readonly request?: Named<unknown>
  readonly success: { readonly status: 200 | 201 | 202; readonly body: Named<unknown> }
  /** What can go wrong here, beside what can go wrong everywhere. */
  readonly problems: readonly ProblemCode[]
}

/** What any operation may answer. */
export const COMMON_PROBLEMS = [
  'header_missing',
  'header_invalid',
  'malformed_request',
  'validation_failed',
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

/** What any mutation may answer on top: it has a body and an idempotency key. */
export const MUTATION_PROBLEMS = [
  'idempotency_key_reuse',
  'payload_too_large',
  'media_type_unsupported',
] as const satisfies ProblemCode[]

/** Every problem that an operation may answer, in the order of their statuses. */
export function problemsOf(operation: Operation): ProblemCode[] {
  const common: ProblemCode[] = [...COMMON_PROBLEMS, ...(operation.mutation ? MUTATION_PROBLEMS : [])]
  return [...new Set([...operation.problems, ...common])]
}

/** Names in braces, in the order of the path. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
}
