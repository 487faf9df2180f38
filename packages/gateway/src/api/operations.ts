import { nameOf, resourceId, schemaNamed, threadId, type Named } from '@agent-exchange/protocol'
import { Type, type TObject, type TSchema } from 'typebox'
import { MAXIMUM_CONTENT_PAGE } from '../content/content-limits.ts'
import { MAXIMUM_SET_ASIDE_PAGE, MAXIMUM_WAIT_SECONDS } from '../inbox/inbox-limits.ts'
import type { GatewayProblemCode } from '../problems.ts'
import type { Verb } from '../systems/verbs.ts'
import * as schemas from './schemas.ts'

export interface GatewayOperation {
  readonly method: 'GET' | 'POST'
  /** Path template as in OpenAPI: `{name}` is a path parameter. */
  readonly path: `/api/v1/${string}`
  readonly area: 'drafts' | 'packages' | 'inbox'
  readonly summary: string
  /** What the system must be allowed to do. */
  readonly verb: Verb
  /** A retry with the same key gets the recorded answer. */
  readonly idempotencyKey: 'required' | 'optional' | 'none'
  readonly query?: TObject
  readonly request?: Named<unknown>
  readonly success: { readonly status: 200 | 201; readonly body: Named<unknown> }
  /** Instead of success: the request was understood, and something has to happen first. */
  readonly accepted?: Named<unknown>
  /** Problems of this operation, in addition to the common ones. */
  readonly problems: readonly GatewayProblemCode[]
}

const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: MAXIMUM_CONTENT_PAGE }))
const { pattern } = schemaNamed(nameOf(resourceId)) as TSchema & { readonly pattern: string }
const before = Type.Optional(
  Type.String({ pattern, maxLength: 512, description: 'next_before of the page before' }),
)
const OF_EXCHANGE = ['exchange_refused', 'exchange_unavailable', 'key_module_unavailable'] as const
const OF_AGENT = ['resource_not_found'] as const

/** The operations for the company's systems, fifteen at most. Router, validation and OpenAPI are derived from this table. */
export const gatewayOperations = {
  createDraft: {
    method: 'POST',
    path: '/api/v1/agents/{agent_id}/drafts',
    area: 'drafts',
    summary: 'Draft a package, or with responds_to an answer; nothing is sent',
    verb: 'draft',
    idempotencyKey: 'required',
    request: schemas.draftRequest,
    success: { status: 201, body: schemas.draft },
    problems: [...OF_AGENT, ...OF_EXCHANGE, 'policy_unknown', 'draft_limit'],
  },
  checkDraft: {
    method: 'GET',
    path: '/api/v1/agents/{agent_id}/drafts/{draft_id}',
    area: 'drafts',
    summary: 'Evaluate the five checks of its policy, and see whether a person has to approve it',
    verb: 'draft',
    idempotencyKey: 'none',
    success: { status: 200, body: schemas.checkedDraft },
    problems: [...OF_AGENT, ...OF_EXCHANGE],
  },
  sendDraft: {
    method: 'POST',
    path: '/api/v1/agents/{agent_id}/drafts/{draft_id}/send',
    area: 'drafts',
    summary: 'Seal, sign and send a draft, once; what needs a person waits for one',
    verb: 'send',
    idempotencyKey: 'required',
    request: schemas.retryRequest,
    success: { status: 200, body: schemas.sendResult },
    accepted: schemas.sendResult,
    problems: [...OF_AGENT, ...OF_EXCHANGE, 'policy_refused', 'draft_declined'],
  },
  revokePackage: {
    method: 'POST',
    path: '/api/v1/agents/{agent_id}/packages/{package_id}/revoke',
    area: 'packages',
    summary: 'Revoke a package that this agent sent and that its recipient has not opened',
    verb: 'revoke',
    idempotencyKey: 'required',
    request: schemas.revocationRequest,
    success: { status: 200, body: schemas.revocation },
    problems: [...OF_AGENT, ...OF_EXCHANGE],
  },
  listThreads: {
    method: 'GET',
    path: '/api/v1/agents/{agent_id}/threads',
    area: 'packages',
    summary: 'Threads of the agent, the latest first',
    verb: 'read',
    idempotencyKey: 'none',
    query: Type.Object({ before, limit }),
    success: { status: 200, body: schemas.threadPage },
    problems: OF_AGENT,
  },
  readThread: {
    method: 'GET',
    path: '/api/v1/agents/{agent_id}/threads/{thread_id}',
    area: 'packages',
    summary: 'Packages of a thread with their states, without content',
    verb: 'read',
    idempotencyKey: 'none',
    success: { status: 200, body: schemas.thread },
    problems: [...OF_AGENT, ...OF_EXCHANGE],
  },
  listPackages: {
    method: 'GET',
    path: '/api/v1/agents/{agent_id}/packages',
    area: 'packages',
    summary: 'Packages that the agent sent and received, the latest first, without content',
    verb: 'read',
    idempotencyKey: 'none',
    query: Type.Object({ thread_id: Type.Optional(threadId), before, limit }),
    success: { status: 200, body: schemas.packagePage },
    problems: OF_AGENT,
  },
  readPackage: {
    method: 'GET',
    path: '/api/v1/agents/{agent_id}/packages/{package_id}',
    area: 'packages',
    summary: 'A package, opened, with its provenance and, where asked for, the verdict on its evidence',
    verb: 'read',
    idempotencyKey: 'none',
    query: Type.Object({
      verdict: Type.Optional(
        Type.Boolean({ description: 'collect and verify the evidence, which takes longer' }),
      ),
    }),
    success: { status: 200, body: schemas.openedPackage },
    problems: [...OF_AGENT, ...OF_EXCHANGE, 'content_gone'],
  },
  readCapsule: {
    method: 'GET',
    path: '/api/v1/agents/{agent_id}/capsule',
    area: 'packages',
    summary: 'The evidence of a package or a thread as a file for aex verify; it holds no content',
    verb: 'read',
    idempotencyKey: 'none',
    query: Type.Object({
      package_id: Type.Optional(resourceId),
      thread_id: Type.Optional(threadId),
      wait: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: MAXIMUM_WAIT_SECONDS,
          description:
            'seconds to wait until the log includes everything; Aex-Pending says how much it does not',
        }),
      ),
    }),
    success: { status: 200, body: schemas.capsule },
    problems: [...OF_AGENT, ...OF_EXCHANGE],
  },
  leaseItems: {
    method: 'POST',
    path: '/api/v1/inbox/leases',
    area: 'inbox',
    summary: 'Take packages that wait, opened; one of a thread at a time, in sequence',
    verb: 'inbox',
    idempotencyKey: 'none',
    request: schemas.leaseRequest,
    success: { status: 200, body: schemas.leaseList },
    problems: OF_AGENT,
  },
  finishLease: {
    method: 'POST',
    path: '/api/v1/inbox/leases/{item_id}/done',
    area: 'inbox',
    summary: 'The item was handled; it does not come again',
    verb: 'inbox',
    idempotencyKey: 'optional',
    request: schemas.leaseReference,
    success: { status: 200, body: schemas.settledLease },
    problems: ['resource_not_found', 'lease_stale'],
  },
  failLease: {
    method: 'POST',
    path: '/api/v1/inbox/leases/{item_id}/failed',
    area: 'inbox',
    summary:
      'The item could not be handled; it returns after a pause, and is set aside after the last attempt',
    verb: 'inbox',
    idempotencyKey: 'optional',
    request: schemas.leaseFailure,
    success: { status: 200, body: schemas.settledLease },
    problems: ['resource_not_found', 'lease_stale'],
  },
  extendLease: {
    method: 'POST',
    path: '/api/v1/inbox/leases/{item_id}/extend',
    area: 'inbox',
    summary: 'Keep a lease for longer',
    verb: 'inbox',
    idempotencyKey: 'optional',
    request: schemas.leaseExtension,
    success: { status: 200, body: schemas.settledLease },
    problems: ['resource_not_found', 'lease_stale'],
  },
  listSetAside: {
    method: 'GET',
    path: '/api/v1/inbox/set-aside',
    area: 'inbox',
    summary: 'Items that failed too often',
    verb: 'inbox',
    idempotencyKey: 'none',
    query: Type.Object({
      after: Type.Optional(schemas.itemId),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAXIMUM_SET_ASIDE_PAGE })),
    }),
    success: { status: 200, body: schemas.setAsidePage },
    problems: [],
  },
  retrySetAside: {
    method: 'POST',
    path: '/api/v1/inbox/set-aside/{item_id}/retry',
    area: 'inbox',
    summary: 'Let an item that was set aside wait again',
    verb: 'inbox',
    idempotencyKey: 'optional',
    request: schemas.retryRequest,
    success: { status: 200, body: schemas.retriedItem },
    problems: ['resource_not_found'],
  },
} as const satisfies Record<string, GatewayOperation>

export type GatewayOperationId = keyof typeof gatewayOperations
export const GATEWAY_OPERATION_IDS = Object.keys(gatewayOperations) as GatewayOperationId[]

const COMMON_PROBLEMS = [
  'access_token_missing',
  'access_token_invalid',
  'not_permitted',
  'rate_limited',
  'service_overloaded',
  'database_unavailable',
  'internal_error',
] as const satisfies GatewayProblemCode[]

/** Every problem that an operation may answer. */
export function problemsOf({
  problems,
  request,
  query,
  idempotencyKey,
}: GatewayOperation): GatewayProblemCode[] {
  const codes: GatewayProblemCode[] = [
    ...problems,
    ...COMMON_PROBLEMS,
    ...(request || query ? (['validation_failed'] as const) : []),
    ...(request
      ? (['malformed_request', 'payload_too_large', 'media_type_unsupported', 'request_timeout'] as const)
      : []),
    ...(idempotencyKey === 'required' ? (['header_missing'] as const) : []),
    ...(idempotencyKey === 'none'
      ? []
      : (['header_invalid', 'idempotency_key_reuse', 'idempotency_key_in_use'] as const)),
  ]
  return [...new Set(codes)]
}
