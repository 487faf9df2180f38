import { DeskRefusal, type DeskPerson, type PasskeyDecisions } from '@agent-exchange/desk'
import type { HostedAgent } from '../agents/hosted-agent.ts'
import { ApprovalProblem } from '../approvals/approval-problem.ts'
import type { DraftDecisions } from '../approvals/draft-decisions.ts'

/** Decisions of one person about the drafts of one agent, for the pages of the desk. */
export function passkeyDecisionsOf(
  decisions: DraftDecisions,
  { agentId, drafts }: Pick<HostedAgent, 'agentId' | 'drafts'>,
  { id: personId, roles }: DeskPerson,
): PasskeyDecisions {
  const person = { personId, isApprover: roles.includes('approver') }
  return {
    state: (draft) => decisions.view(person, { agentId, draft, digest: draft.digest }),
    recorded: (draftId) => decisions.recorded(agentId, draftId),
    options: ({ draftId, digest, decision }) =>
      asRefusal(async () => {
        const draft = await drafts.get(draftId)
        return decisions.options(person, { agentId, draft, digest }, decision)
      }),
    confirm: ({ draftId, digest, answer, reason }) =>
      asRefusal(async () => {
        const draft = await drafts.get(draftId)
        return decisions.decide(person, { agentId, draft, digest }, { answer: parsed(answer), reason })
      }),
  }
}

/** Undefined if it is no JSON: the shape of the answer refuses that. */
export function parsed(answer: string): unknown {
  try {
    return JSON.parse(answer)
  } catch {
    return undefined
  }
}

/** The sentence of a problem is for the person; its cause is not. */
export async function asRefusal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApprovalProblem) throw new DeskRefusal(error.message, { cause: error })
    throw error
  }
}
