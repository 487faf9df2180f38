import type { StoredDraft } from '@agent-exchange/sdk'
import { Type, type Static } from 'typebox'
import { agentIdText, objectTypeText, packageId, threadIdText, timeText } from '../tools/common-schemas.ts'

export const draftId = Type.String({
  pattern: '^draft_[0-9a-f]{32}$',
  description: 'id of a draft, from draft_package, answer_package or list_drafts',
})

/** A draft without its content. The name and the reason of the person stay in the agent's folder. */
export const shownDraft = Type.Object({
  draft_id: draftId,
  state: Type.Enum(['ready', 'waiting', 'approved', 'declined', 'void'], {
    description:
      'ready: no person is required; waiting: a person has to decide; void: the decision does not count any more',
  }),
  needs_person: Type.Boolean({ description: 'whether a person has to approve it before it is sent' }),
  created_at: timeText,
  to: Type.Object({ organization_id: Type.String(), agent_id: agentIdText }),
  object_type: objectTypeText,
  policy_id: Type.String(),
  package_id: packageId,
  thread_id: threadIdText,
  responds_to: Type.Optional(packageId),
})
export type ShownDraft = Static<typeof shownDraft>

export function toShownDraft(draft: StoredDraft): ShownDraft {
  const { recipient, respondsTo } = draft
  return {
    draft_id: draft.draftId,
    state: draft.state,
    needs_person: draft.approvalRequired,
    created_at: draft.createdAt,
    to: { organization_id: recipient.organizationId, agent_id: recipient.agentId },
    object_type: draft.object.object_type,
    policy_id: draft.policy.policy_id,
    package_id: draft.packageId,
    thread_id: draft.threadId,
    ...(respondsTo !== undefined && { responds_to: respondsTo }),
  }
}

export function draftLine({ draft_id, state, to, object_type, thread_id }: ShownDraft): string {
  return `${draft_id}: ${state}, a ${object_type} to ${to.agent_id} in ${thread_id}`
}
