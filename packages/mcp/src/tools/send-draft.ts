import { canonicalize } from '@agent-exchange/crypto'
import { ExchangeError, type SentPackage, type StoredDraft } from '@agent-exchange/sdk'
import { Type, type Static } from 'typebox'
import { draftId } from '../content/shown-draft.ts'
import { ToolRefusal } from '../server/tool-failure.ts'
import { defineTool, type ToolAnswer } from '../server/tool.ts'
import type { McpSession } from '../session.ts'
import { inputOf, packageId, threadIdText } from './common-schemas.ts'

const output = Type.Object({
  status: Type.Enum(['sent', 'waiting_for_person', 'declined_by_person']),
  draft_id: draftId,
  package_id: Type.Optional(packageId),
  thread_id: Type.Optional(threadIdText),
  desk_url: Type.Optional(
    Type.String({ description: 'page of the draft at the running desk, for the person' }),
  ),
  next_step: Type.Optional(
    Type.String({ description: 'what the person does, or the command to run, if there is no address' }),
  ),
})
type Output = Static<typeof output>

export const sendDraft = defineTool({
  name: 'send_draft',
  title: 'Send a draft',
  verb: 'send',
  description:
    'Checks a draft against its policy, seals, signs and sends it. If a person has to approve it and has not, nothing is sent and the status is waiting_for_person, with the address of the desk, or with the command that starts it. No argument replaces the approval. Repeating the call never sends twice.',
  input: inputOf({ draft_id: draftId }),
  output,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  callsPerMinute: 30,
  takesContent: true,
  async run({ draft_id }, { session, signal, progress }) {
    const { agent } = session
    const before = await agent.drafts.findSent(draft_id)
    if (before) return sent(draft_id, before)
    await requireCurrentPolicy(await agent.drafts.get(draft_id), session)
    try {
      const onProgress = ({ step }: { readonly step: string }) => progress(step.replaceAll('_', ' '))
      return sent(draft_id, await agent.drafts.send(draft_id, { signal, onProgress }))
    } catch (error) {
      const answer = error instanceof ExchangeError ? await forPerson(draft_id, error, session) : undefined
      if (answer) return answer
      throw error
    }
  },
})

/**
 * A draft keeps the policy that it was written under. If a person has changed or removed that policy since, only a
 * person's approval of exactly this draft lets it out.
 */
async function requireCurrentPolicy({ state, policy }: StoredDraft, { agent }: McpSession): Promise<void> {
  if (state === 'approved') return
  const wanted = canonicalize(policy)
  const isCurrent = (await agent.policies()).some((each) => canonicalize(each) === wanted)
  if (!isCurrent)
    throw new ToolRefusal(
      'policy_changed',
      'The policy of this draft was changed or removed. Draft it again.',
    )
}

function sent(
  draft_id: string,
  { packageId: package_id, threadId: thread_id }: Pick<SentPackage, 'packageId' | 'threadId'>,
): ToolAnswer<Output> {
  return {
    structured: { status: 'sent', draft_id, package_id, thread_id },
    text: `${package_id} in ${thread_id} is accepted by the exchange.`,
  }
}

/** The answer if only a person can continue. An invalid approval counts as none. */
async function forPerson(
  draft_id: string,
  { code }: ExchangeError,
  { agent, deskCommand, approverCommand }: McpSession,
): Promise<ToolAnswer<Output> | undefined> {
  if (code === 'approval_declined')
    return {
      structured: { status: 'declined_by_person', draft_id },
      text: 'A person declined this draft. Nothing was sent.',
    }
  if (code === 'approver_missing') return waiting(draft_id, approverCommand)
  if (code !== 'approval_waiting' && code !== 'approval_invalid') return undefined
  const desk_url = await agent.deskPage(draft_id)
  if (desk_url === undefined) return waiting(draft_id, deskCommand)
  return {
    structured: { status: 'waiting_for_person', draft_id, desk_url },
    text: `Waiting for a person. Nothing was sent. The person responsible decides at the desk: ${desk_url}`,
  }
}

function waiting(draft_id: string, next_step: string): ToolAnswer<Output> {
  return {
    structured: { status: 'waiting_for_person', draft_id, next_step },
    text: `Waiting for a person. Nothing was sent. Next step for the person responsible: ${next_step}`,
  }
}
