import { toShownDraft } from '@agent-exchange/mcp/content'
import type { CheckResult } from '@agent-exchange/sdk'
import { requireProgramDraft } from '../../systems/program-drafts.ts'
import { agentOf, type Handler } from '../call.ts'

const SHOWN_FAILURES = 20

export const checkDraft: Handler<'checkDraft'> = async (call) => {
  const { agentId, drafts } = agentOf(call)
  const draftId = call.path['draft_id'] ?? ''
  await requireProgramDraft(call.parts.db, agentId, draftId)
  const evaluated = await drafts.evaluate(draftId, { signal: call.signal })
  return {
    body: {
      draft: toShownDraft(evaluated.draft),
      passed: evaluated.passed,
      waits_for_person: evaluated.needsPerson,
      checks: evaluated.checks.map(shownCheck),
    },
  }
}

export const shownCheck = ({ checkId, passed, judged, failures }: CheckResult) => ({
  check_id: checkId,
  passed,
  evaluated: judged,
  failures: failures.slice(0, SHOWN_FAILURES).map(({ pointer, message }) => ({ pointer, message })),
})
