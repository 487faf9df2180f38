import { ExchangeError } from '@agent-exchange/sdk'
import { sendStoredDraft } from '../../agents/send-stored-draft.ts'
import { GatewayProblem } from '../../problems.ts'
import { requireProgramDraft } from '../../systems/program-drafts.ts'
import { agentOf, type Answer, type Handler } from '../call.ts'
import { shownCheck } from './check-draft.ts'

/** Only a person can continue. An approval that does not count is none. */
const WAITING: ReadonlySet<string> = new Set([
  'approval_waiting',
  'approval_invalid',
  'approval_missing',
  'approver_missing',
])

export const sendDraft: Handler<'sendDraft'> = async (call) => {
  const hosted = agentOf(call)
  const draftId = call.path['draft_id'] ?? ''
  // Authors outlive the send, so that a retry reveals no draft of a person either.
  await requireProgramDraft(call.parts.db, hosted.agentId, draftId)
  const before = await hosted.drafts.findSent(draftId)
  if (before) return sent(draftId, before)
  const draft = await hosted.drafts.get(draftId)
  try {
    return sent(draftId, await sendStoredDraft(call.parts.db, hosted, draft))
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error
    if (WAITING.has(error.code))
      return {
        status: 202,
        body: {
          state: 'waiting_for_person',
          draft_id: draftId,
          package_id: draft.packageId,
          thread_id: draft.threadId,
        },
      }
    if (error.code !== 'policy_refused') throw error
    const { checks } = await hosted.drafts.evaluate(draftId)
    throw new GatewayProblem(
      'policy_refused',
      { checks: checks.filter(({ passed }) => !passed).map(shownCheck) },
      { cause: error },
    )
  }
}

function sent(draftId: string, { packageId, threadId }: { packageId: string; threadId: string }): Answer {
  return { body: { state: 'sent', draft_id: draftId, package_id: packageId, thread_id: threadId } }
}
