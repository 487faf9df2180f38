import type {
  AuditEvent,
  LoopThread,
  NetworkStory,
  PolicyEnvelope,
  ReasoningPackage,
  ResponseObject,
} from '@agent-exchange/protocol'
import { randomId } from '../connection/random-id.ts'
import type { Identity } from '../context.ts'
import { answerableId } from './answered-id.ts'
import { newObject } from './new-object.ts'

/** Who writes an object, when, and under which policy where the content names none. */
export interface Author {
  readonly by: Identity
  readonly now: Date
  readonly policy?: PolicyEnvelope | undefined
}

type Envelope =
  | 'id'
  | 'object_type'
  | 'protocol_version'
  | 'schema_version'
  | 'created_at'
  | 'created_by'
  | 'trace'

/** The members of an object that its author writes, as the schema types them. Each replaces the default. */
type Members<T> = { readonly [Name in Exclude<keyof T, Envelope>]?: T[Name] }

/** An organization, or the address of one of its agents. */
type Recipient = string | { readonly organizationId: string }

type Fact = ReasoningPackage['facts'][number]
/** A sentence, or a fact whose missing members get defaults: a new id, `confidential`. */
export type FactContent = string | (Partial<Fact> & Pick<Fact, 'statement'>)

export interface ReasoningPackageContent extends Omit<Members<ReasoningPackage>, 'facts'> {
  readonly to: Recipient | readonly Recipient[]
  readonly summary: string
  readonly facts: readonly FactContent[]
  /** What the recipient is asked to do. */
  readonly ask: string
  /** What the sender does next. */
  readonly action?: string
  readonly drivers?: readonly string[]
  readonly unknowns?: readonly string[]
  /** Defaults to a new thread. */
  readonly thread?: string
  /** The policy under which it is sent. Defaults to that of the agent. */
  readonly policy?: PolicyEnvelope
}

export interface ResponseContent extends Members<ResponseObject> {
  /** The answered package, with the id of the object inside where it is known. */
  readonly to: { readonly packageId: string; readonly threadId: string; readonly objectId?: string }
  readonly summary: string
  /** Defaults to `agree`. */
  readonly actions?: ResponseObject['response_actions']
  /** The policy under which it is sent. Defaults to that of the agent. */
  readonly policy?: PolicyEnvelope
}

export interface LoopThreadContent extends Members<LoopThread> {
  readonly to: Recipient | readonly Recipient[]
  readonly thread?: string
}

export interface PolicyContent extends Members<PolicyEnvelope> {
  readonly to: Recipient | readonly Recipient[]
  readonly purpose: string
}

export interface NetworkStoryContent extends Members<NetworkStory> {
  readonly thread: string
  readonly summary: string
  /** The packages that the story rests on. */
  readonly about: readonly [string, ...string[]]
}

export interface AuditEventContent extends Members<AuditEvent> {
  readonly thread: string
  /** The package that the event is about. */
  readonly about: string
  readonly decision: string
}

/**
 * Makers of the six objects.
 *
 * @example
 * const object = agent.make.reasoningPackage({
 *   to: 'org_cars',
 *   summary: 'Rails are short in week 12.',
 *   facts: ['A press is down.'],
 *   ask: 'Confirm the new date.',
 * })
 */
export interface Makers {
  reasoningPackage(content: ReasoningPackageContent): ReasoningPackage
  responseObject(content: ResponseContent): ResponseObject
  loopThread(content: LoopThreadContent): LoopThread
  policyEnvelope(content: PolicyContent): PolicyEnvelope
  networkStory(content: NetworkStoryContent): NetworkStory
  auditEvent(content: AuditEventContent): AuditEvent
}

/** The time is read with each object. */
export function makersOf(author: () => Author): Makers {
  return {
    reasoningPackage: (content) => reasoningPackage(author(), content),
    responseObject: (content) => responseObject(author(), content),
    loopThread: (content) => loopThread(author(), content),
    policyEnvelope: (content) => policyEnvelope(author(), content),
    networkStory: (content) => networkStory(author(), content),
    auditEvent: (content) => auditEvent(author(), content),
  }
}

const NOT_STATED = 'Not stated.'

/** A reasoning package without placeholder sentences. Members that the sender leaves out say so. */
function reasoningPackage(author: Author, content: ReasoningPackageContent): ReasoningPackage {
  const { to, summary, facts, ask, action, drivers = [], unknowns = [], thread, ...rest } = content
  const { policy = author.policy, ...members } = rest
  const [first = '', ...others] = organizationsIn(to)
  const base = newObject('reasoning_package', {
    ...termsOf({ ...author, policy }, first),
    ...(thread !== undefined && { threadId: thread }),
  })
  const [model] = base.recipients
  return {
    ...base,
    recipients: [first, ...others].map((id) => ({
      role: 'partner',
      required: true,
      ...model,
      organization_id: id,
    })),
    business_context: { ...base.business_context, time_horizon: NOT_STATED },
    reasoning: { summary, drivers: [...drivers], known_unknowns: [...unknowns] },
    confidence: { score: 0.5, basis: 'Not assessed.' },
    intent: { sender_action: action ?? NOT_STATED, recipient_request: ask },
    boundaries: {
      ...base.boundaries,
      ...(policy && { retention_days: policy.retention.duration_days }),
    },
    policy_envelope: policy
      ? {
          policy_id: policy.policy_id,
          purpose: policy.purpose,
          human_approval: {
            required: policy.human_approval.required,
            approval_id: policy.human_approval.approval_id || 'none',
          },
        }
      : base.policy_envelope,
    ...members,
    facts: facts.map(factFrom),
  }
}

/** An answer to a package. */
function responseObject(author: Author, content: ResponseContent): ResponseObject {
  const { to, summary, actions = ['agree'], policy = author.policy, ...members } = content
  const base = newObject('response_object', {
    ...termsOf({ ...author, policy }, author.by.organizationId),
    threadId: to.threadId,
    about: answerableId(to.packageId, to.objectId),
  })
  return {
    ...base,
    response_actions: actions,
    response_summary: summary,
    ...(policy && { policy_envelope: { policy_id: policy.policy_id, purpose: policy.purpose } }),
    ...members,
  }
}

/** The state of a thread between its author and other organizations. */
function loopThread(author: Author, content: LoopThreadContent): LoopThread {
  const { to, thread, ...members } = content
  const organizations = organizationsIn(to)
  const base = newObject('loop_thread', {
    ...termsOf(author, organizations[0] ?? ''),
    ...(thread !== undefined && { threadId: thread }),
  })
  const partners = organizations.map((id) => ({ organization_id: id, role: 'partner' }))
  return { ...base, participants: [...base.participants.slice(0, 1), ...partners], ...members }
}

/** A policy that lets organizations read and answer. */
function policyEnvelope(author: Author, content: PolicyContent): PolicyEnvelope {
  const { to, ...members } = content
  const organizations = organizationsIn(to)
  const base = newObject('policy_envelope', termsOf(author, organizations[0] ?? ''))
  return { ...base, allowed_recipients: organizations, ...members }
}

/** What both sides hold to be so. */
function networkStory(author: Author, content: NetworkStoryContent): NetworkStory {
  const { thread, about, ...members } = content
  const base = newObject('network_story', {
    ...termsOf(author, author.by.organizationId),
    threadId: thread,
  })
  const references = about.map((id) => ({ object_id: id, object_type: 'reasoning_package' as const }))
  return { ...base, basis_refs: references, ...members }
}

/** A record of a decision about a package. */
function auditEvent(author: Author, content: AuditEventContent): AuditEvent {
  const { thread, about, ...members } = content
  const base = newObject('audit_event', {
    ...termsOf(author, author.by.organizationId),
    threadId: thread,
    about,
  })
  return { ...base, ...members }
}

function termsOf({ by, now, policy }: Author, to: string) {
  return { by, now, to, ...(policy && { policyId: policy.policy_id }) }
}

function organizationsIn(to: Recipient | readonly Recipient[]): string[] {
  const all = Array.isArray(to) ? (to as readonly Recipient[]) : [to as Recipient]
  return all.map((each) => (typeof each === 'string' ? each : each.organizationId))
}

function factFrom(content: FactContent): Fact {
  const fact = typeof content === 'string' ? { statement: content } : content
  return { fact_id: randomId('fact'), evidence_refs: [randomId('ev')], sensitivity: 'confidential', ...fact }
}
