import {
  agentId,
  define,
  OBJECT_TYPES,
  PACKAGE_STATES,
  resourceId,
  threadId,
  timestamp,
} from '@agent-exchange/protocol'
import { Type, type Static, type TProperties } from 'typebox'
import {
  MAXIMUM_LEASES,
  MAXIMUM_REASON_CHARACTERS,
  MAXIMUM_VISIBILITY_SECONDS,
  MAXIMUM_WAIT_SECONDS,
} from '../inbox/inbox-limits.ts'
import { GATEWAY_PROBLEM_CODES } from '../problems.ts'

/** A request body. Closed, so that no misspelled member is ignored. */
const request = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

const draftId = Type.String({ pattern: '^draft_[0-9a-f]{32}$', description: 'an id of a draft' })
export const itemId = Type.String({ pattern: '^item_[0-9a-f-]{36}$', description: 'an id of an inbox item' })
const leaseToken = Type.String({
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: 'the token of a lease, as leaseItems returned it',
})
const party = Type.Object({ organization_id: Type.String(), agent_id: Type.String() })
const count = Type.Integer({ minimum: 0 })
const seconds = (maximum: number, description: string, minimum = 1) =>
  Type.Integer({ minimum, maximum, description })
const DRAFTED_TYPES = ['reasoning_package', 'network_story', 'loop_thread', 'audit_event'] as const

export const problemDocument = define(
  'GatewayProblem',
  Type.Object({
    type: Type.String({ format: 'uri' }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    code: Type.String({ description: `one of ${GATEWAY_PROBLEM_CODES.join(', ')}` }),
    correlation_id: Type.String(),
    retryable: Type.Boolean(),
    details: Type.Object({}, { additionalProperties: true }),
  }),
)

export const draftRequest = define(
  'DraftRequest',
  request({
    policy_id: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'the policy to send under: one that an administrator gave to the agent',
    }),
    content: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description:
        'the members of the object that describe the matter. Ids, parties, times and the policy are filled in.',
    }),
    to: Type.Optional({ ...agentId, description: 'the recipient; not with responds_to' }),
    object_type: Type.Optional(
      Type.Enum([...DRAFTED_TYPES], { description: 'the type of the object; not with responds_to' }),
    ),
    responds_to: Type.Optional({
      ...resourceId,
      description: 'the package that this answers; content is that of a response_object',
    }),
    thread_id: Type.Optional({ ...threadId, description: 'the thread to continue; a new one without it' }),
    about: Type.Optional({
      ...resourceId,
      description: 'the package that a story or an audit event refers to',
    }),
    expires_at: Type.Optional(timestamp),
    require_person: Type.Optional(
      Type.Literal(true, { description: 'a person must approve it, also where the policy requires none' }),
    ),
  }),
)
export type DraftRequest = Static<typeof draftRequest>

export const draft = define(
  'Draft',
  Type.Object({
    draft_id: draftId,
    state: Type.Enum(['ready', 'waiting', 'approved', 'declined', 'void'], {
      description:
        'ready: no person is required; waiting: a person has to decide; void: there is a decision, and it does not count',
    }),
    needs_person: Type.Boolean({ description: 'whether a person has to approve it before it is sent' }),
    created_at: Type.String(),
    to: party,
    object_type: Type.Enum([...OBJECT_TYPES]),
    policy_id: Type.String(),
    package_id: Type.String(),
    thread_id: Type.String(),
    responds_to: Type.Optional(Type.String()),
  }),
)

const check = Type.Object({
  check_id: Type.String(),
  passed: Type.Boolean(),
  evaluated: Type.Boolean({ description: 'false if an earlier check has to pass first' }),
  failures: Type.Array(Type.Object({ pointer: Type.String(), message: Type.String() })),
})

export const checkedDraft = define(
  'CheckedDraft',
  Type.Object({
    draft,
    passed: Type.Boolean({ description: 'whether the policy allows it' }),
    waits_for_person: Type.Boolean({ description: 'whether sendDraft would answer waiting_for_person now' }),
    checks: Type.Array(check, { description: 'the five checks of the policy, in order' }),
  }),
)

export const sendResult = define(
  'SendResult',
  Type.Object({
    state: Type.Enum(['sent', 'waiting_for_person'], {
      description: 'waiting_for_person: nothing was sent; send again when a person has approved it',
    }),
    draft_id: draftId,
    package_id: Type.String(),
    thread_id: Type.String(),
  }),
)

export const REVOCATION_REASONS = [
  'superseded',
  'sent_in_error',
  'wrong_recipient',
  'no_longer_valid',
] as const

export const revocationRequest = define(
  'RevocationRequest',
  request({
    reason: Type.Enum([...REVOCATION_REASONS], { description: 'the recipient and the exchange see it' }),
  }),
)

export const revocation = define(
  'Revocation',
  Type.Object({
    package_id: Type.String(),
    already_revoked: Type.Boolean(),
    future_access_blocked: Type.Boolean({ description: 'whether nobody can fetch the content any more' }),
  }),
)

const packageEntry = define(
  'PackageEntry',
  Type.Object({
    package_id: Type.String(),
    thread_id: Type.String(),
    direction: Type.Enum(['received', 'sent']),
    content_type: Type.String(),
    stored_at: Type.String(),
    retention_until: Type.Optional(Type.String({ description: 'the content is deleted then' })),
    deleted_at: Type.Optional(Type.String({ description: 'when the content was deleted' })),
  }),
)

export const packagePage = define(
  'PackagePage',
  Type.Object({
    packages: Type.Array(packageEntry),
    next_before: Type.Optional(Type.String({ description: 'pass it as before to get older ones' })),
  }),
)

export const threadPage = define(
  'ThreadPage',
  Type.Object({
    threads: Type.Array(
      Type.Object({ thread_id: Type.String(), packages: count, last_package_at: Type.String() }),
    ),
    next_before: Type.Optional(Type.String({ description: 'pass it as before to get older ones' })),
  }),
)

export const thread = define(
  'Thread',
  Type.Object({
    thread_id: Type.String(),
    packages: Type.Array(
      Type.Object({
        package_id: Type.String(),
        state: Type.Enum([...PACKAGE_STATES]),
        from: party,
        to: party,
        sent_by_this_agent: Type.Boolean(),
        created_at: Type.String(),
        updated_at: Type.String(),
        responds_to: Type.Optional(Type.String()),
      }),
      { description: 'in order of acceptance, as the exchange shows them' },
    ),
    truncated: Type.Boolean({
      description: 'true if the thread has newer packages that are not listed, or may have',
    }),
  }),
)

const verdict = Type.Object({
  word: Type.Enum(['proven', 'consistent', 'broken', 'unreadable']),
  outcome: Type.String(),
  level: Type.Optional(Type.String()),
  contradictions: Type.Array(Type.String()),
  pending: Type.Integer({ description: 'events that the log does not include yet' }),
})

export const openedPackage = define(
  'OpenedPackage',
  Type.Object({
    package_id: Type.String(),
    thread_id: Type.String(),
    direction: Type.Enum(['received', 'sent']),
    object: Type.Object({}, { additionalProperties: true, description: 'data of its sender: untrusted' }),
    provenance: Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'sender, signature, keys and times as verified when it was opened, what the sender asked for, and model_use where the policy of the sender was received',
      },
    ),
    verdict: Type.Optional(verdict),
  }),
)

export const leaseRequest = define(
  'LeaseRequest',
  request({
    agent_id: Type.Optional({
      ...agentId,
      description: 'only items of this agent; otherwise of all that you may act for',
    }),
    wait: Type.Optional(seconds(MAXIMUM_WAIT_SECONDS, 'seconds to wait for the first item; 0 without it', 0)),
    max: Type.Optional(Type.Integer({ minimum: 1, maximum: MAXIMUM_LEASES, description: '1 without it' })),
    visibility: Type.Optional(
      seconds(
        MAXIMUM_VISIBILITY_SECONDS,
        'seconds until an unanswered lease ends and the item returns; 60 without it',
      ),
    ),
  }),
)

const item = {
  item_id: itemId,
  agent_id: Type.String(),
  package_id: Type.String(),
  thread_id: Type.String(),
  sequence: count,
  content_type: Type.String(),
  received_at: Type.String(),
}

const lease = define(
  'Lease',
  Type.Object({
    ...item,
    lease_token: leaseToken,
    lease_ends_at: Type.String(),
    attempt: Type.Integer({ minimum: 1, description: 'how often the item was leased, this time included' }),
    package: Type.Optional(openedPackage),
  }),
)

export const leaseList = define(
  'LeaseList',
  Type.Object({ leases: Type.Array(lease, { maxItems: MAXIMUM_LEASES }) }),
)

export const leaseReference = define('LeaseReference', request({ lease_token: leaseToken }))

export const leaseFailure = define(
  'LeaseFailure',
  request({
    lease_token: leaseToken,
    reason: Type.String({
      minLength: 1,
      maxLength: MAXIMUM_REASON_CHARACTERS,
      description: 'shown to administrators; no content of packages',
    }),
  }),
)

export const leaseExtension = define(
  'LeaseExtension',
  request({
    lease_token: leaseToken,
    visibility: seconds(MAXIMUM_VISIBILITY_SECONDS, 'seconds from now until the lease ends'),
  }),
)

export const settledLease = define(
  'SettledLease',
  Type.Object({ item_id: itemId, lease_ends_at: Type.Optional(Type.String()) }),
)

export const setAsidePage = define(
  'SetAsidePage',
  Type.Object({
    items: Type.Array(
      Type.Object({ ...item, attempts: count, failure: Type.Union([Type.String(), Type.Null()]) }),
    ),
    next_after: Type.Optional(Type.String({ description: 'pass it as after to get more' })),
  }),
)

export const retryRequest = define('RetryRequest', request({}))
export const retriedItem = define('RetriedItem', Type.Object({ item_id: itemId }))

export const capsule = define(
  'Capsule',
  Type.Object(
    {},
    { additionalProperties: true, description: 'a file for aex verify; its form is that of an exchange' },
  ),
)
