import type { AgentResource, SkillRelease } from '@agent-exchange/protocol'
import { isNotFound } from '../connection/not-found.ts'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { evaluatePolicy, type PolicyEvaluation } from '../policy/evaluate-policy.ts'
import { asUnknownPeer } from '../peers/unknown-peer.ts'
import type { Draft } from './send-input.ts'

export interface EvaluatedDraft {
  readonly evaluation: PolicyEvaluation
  readonly evaluatedAt: string
  readonly recipientAgent: AgentResource
}

/** Evaluates the policy checks. A failed check stops the send before sealing. */
export async function evaluateDraft(
  context: AgentContext,
  draft: Draft,
  signal?: AbortSignal,
): Promise<EvaluatedDraft> {
  const evaluated = await runChecks(context, draft, signal)
  if (evaluated.evaluation.passed) return evaluated
  const failed = evaluated.evaluation.checks.filter(({ passed, judged }) => judged && !passed)
  throw new ExchangeError('policy_refused', {
    details: { packageId: draft.packageId, checks: failed.map(({ checkId }) => checkId) },
    failures: failed.flatMap(({ failures }) => failures),
  })
}

/** Reads what the policy checks need and evaluates them. */
export async function runChecks(
  context: AgentContext,
  draft: Draft,
  signal?: AbortSignal,
): Promise<EvaluatedDraft> {
  const recipientAgent = await readRecipient(context, draft, signal)
  const release = await readRelease(context, draft, recipientAgent, signal)
  const evaluatedAt = context.now().toISOString()
  const evaluation = evaluatePolicy({
    object: draft.object,
    policy: draft.policy,
    recipient: draft.to,
    recipientAgent,
    skill: draft.skill,
    release,
    releaseRequired: draft.requireSkillRelease ?? false,
    expiresAt: draft.expiresAt,
    evaluatedAt,
    settings: draft.policySettings,
    profile: context.deployment.profile,
  })
  return { evaluation, evaluatedAt, recipientAgent }
}

async function readRecipient(
  { connection }: AgentContext,
  { to }: Draft,
  signal: AbortSignal | undefined,
): Promise<AgentResource> {
  try {
    return await connection.call('getAgent', {
      path: { agent_id: to.agentId },
      ...(signal && { signal }),
    })
  } catch (error) {
    throw asUnknownPeer(error, to.agentId)
  }
}

/** Read only if the caller requires it, or if versions differ and the release may declare them compatible. */
async function readRelease(
  { connection }: AgentContext,
  { skill, requireSkillRelease }: Draft,
  { skill_versions: listed }: AgentResource,
  signal: AbortSignal | undefined,
): Promise<SkillRelease | undefined> {
  const isListed = Object.hasOwn(listed, skill.id)
  if (!requireSkillRelease && (!isListed || listed[skill.id] === skill.version)) return undefined
  try {
    return await connection.call('getSkillRelease', {
      path: { skill_id: skill.id, version: skill.version },
      ...(signal && { signal }),
    })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
