import {
  exampleObjects,
  type PolicyEnvelope,
  type ReasoningPackage,
  type ResponseObject,
} from '@agent-exchange/protocol'
import { randomId } from '../connection/random-id.ts'
import type { AgentContext } from '../context.ts'
import type { SendInput } from './send-input.ts'

export const SKILL = { id: 'skill_alignment', version: '1.0.0' } as const
/** Stands in every package of a test, and nowhere outside of seals. */
export const SECRET_WORDS = 'a coil delivery moved from week 11 to week 12'

type Members<T> = { -readonly [K in keyof T]?: T[K] }

/** A policy of one agent's organization that lets another one read and answer. */
export function policyFor(
  from: AgentContext,
  to: AgentContext,
  change: Members<PolicyEnvelope> = {},
): PolicyEnvelope {
  return {
    ...exampleObjects.policy_envelope,
    created_by: authorOf(from),
    created_at: from.now().toISOString(),
    allowed_recipients: [to.identity.organizationId],
    human_approval: { required: false, approval_id: '' },
    ...change,
  }
}

export function packageFor(
  from: AgentContext,
  to: AgentContext,
  change: Members<ReasoningPackage> = {},
): ReasoningPackage {
  const now = from.now()
  const example = exampleObjects.reasoning_package
  return {
    ...example,
    id: randomId('pkg'),
    thread_id: randomId('thread'),
    created_at: now.toISOString(),
    created_by: authorOf(from),
    sender: authorOf(from),
    recipients: [{ organization_id: to.identity.organizationId, role: 'manufacturer', required: true }],
    facts: example.facts.map((fact) => ({ ...fact, statement: SECRET_WORDS })),
    response_required: {
      ...example.response_required,
      deadline: new Date(now.getTime() + 86_400_000).toISOString(),
    },
    policy_envelope: {
      ...example.policy_envelope,
      human_approval: { required: false, approval_id: 'approval_4711' },
    },
    ...change,
  }
}

export function responseFor(
  from: AgentContext,
  original: { readonly packageId: string; readonly threadId: string },
  change: Members<ResponseObject> = {},
): ResponseObject {
  return {
    ...exampleObjects.response_object,
    id: randomId('resp'),
    thread_id: original.threadId,
    created_at: from.now().toISOString(),
    created_by: authorOf(from),
    responds_to_package_id: original.packageId,
    ...change,
  }
}

export function inputFor(
  from: AgentContext,
  to: AgentContext,
  change: Members<ReasoningPackage> = {},
): SendInput & { readonly object: ReasoningPackage } {
  return {
    object: packageFor(from, to, change),
    policy: policyFor(from, to),
    to: to.identity,
    skill: SKILL,
  }
}

function authorOf({ identity }: AgentContext) {
  return { organization_id: identity.organizationId, agent_id: identity.agentId }
}
