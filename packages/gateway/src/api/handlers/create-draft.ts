import { draftObject, toShownDraft } from '@agent-exchange/mcp/content'
import type { DraftInput } from '@agent-exchange/sdk'
import { asUnknownPeer } from '@agent-exchange/sdk/internal'
import { skillOf, type HostedAgent } from '../../agents/hosted-agent.ts'
import { readAnswerable } from '../../agents/own-packages.ts'
import { authorOf } from '../../approvals/draft-authors.ts'
import { policyNamed } from '../../policies/agent-policies.ts'
import { GatewayProblem } from '../../problems.ts'
import { agentOf, type Handler } from '../call.ts'
import type { DraftRequest } from '../schemas.ts'

export const createDraft: Handler<'createDraft'> = async (call) => {
  const hosted = agentOf(call)
  const { body, parts, signal } = call
  const policy = await policyNamed(parts.db, hosted.agentId, body.policy_id)
  const { recipientOrganization, ...terms } = await (body.responds_to === undefined
    ? ofPackage(hosted, body, signal)
    : ofResponse(hosted, body, body.responds_to, signal))
  const object = draftObject(terms.objectType, body.content, {
    by: hosted.agent.identity,
    to: recipientOrganization,
    now: parts.now(),
    policy,
    ...(terms.threadId !== undefined && { threadId: terms.threadId }),
    ...(terms.about !== undefined && { about: terms.about }),
  })
  const draft = await hosted.draftsBy(authorOf(call.caller)).create({
    object,
    policy,
    skill: skillOf(hosted),
    ...terms.addressed,
    ...(body.expires_at !== undefined && { expiresAt: body.expires_at }),
    ...(body.require_person !== undefined && { requireApproval: body.require_person }),
  } as unknown as DraftInput)
  return { body: toShownDraft(draft) }
}

interface DraftTerms {
  readonly objectType: Parameters<typeof draftObject>[0]
  readonly recipientOrganization: string
  readonly addressed: object
  readonly threadId?: string
  readonly about?: string
}

async function ofPackage(
  { agent }: HostedAgent,
  { to, object_type, thread_id, about }: DraftRequest,
  signal: AbortSignal,
): Promise<DraftTerms> {
  if (to === undefined || object_type === undefined)
    throw new GatewayProblem('validation_failed', {
      reason: 'Give to and object_type for a package, or responds_to for an answer.',
    })
  const recipient = await agent.context.connection
    .call('getAgent', { path: { agent_id: to }, signal })
    .catch((error: unknown) => {
      throw asUnknownPeer(error, to)
    })
  return {
    objectType: object_type,
    recipientOrganization: recipient.organization_id,
    addressed: { to: { organizationId: recipient.organization_id, agentId: to } },
    ...(thread_id !== undefined && { threadId: thread_id }),
    ...(about !== undefined && { about }),
  }
}

async function ofResponse(
  hosted: HostedAgent,
  { to, object_type, thread_id, about }: DraftRequest,
  respondsTo: string,
  signal: AbortSignal,
): Promise<DraftTerms> {
  if ([to, object_type, thread_id, about].some((given) => given !== undefined))
    throw new GatewayProblem('validation_failed', {
      reason: 'An answer goes to the sender, in its thread: leave out to, object_type, thread_id and about.',
    })
  const metadata = await readAnswerable(hosted, respondsTo, { signal })
  return {
    objectType: 'response_object',
    recipientOrganization: metadata.sender_org_id,
    addressed: { respondsTo },
    threadId: metadata.thread_id,
    about: respondsTo,
  }
}
