import type { StoredDraft } from '@agent-exchange/sdk'
import { Type } from 'typebox'
import { draftId, shownDraft, toShownDraft } from '../content/shown-draft.ts'
import { OWN_DRAFT_NOTICE, untrustedBlock } from '../content/untrusted.ts'
import { defineTool, READS } from '../server/tool.ts'
import { inputOf } from './common-schemas.ts'

const SHOWN_FAILURES = 20

const check = Type.Object({
  check_id: Type.String(),
  passed: Type.Boolean(),
  evaluated: Type.Boolean({ description: 'false if an earlier check has to pass first' }),
  failures: Type.Array(Type.Object({ pointer: Type.String(), message: Type.String() })),
})

export const checkDraft = defineTool({
  name: 'check_draft',
  title: 'Check a draft against its policy',
  verb: 'draft',
  description:
    'Shows a draft and evaluates the five checks of its policy: schema, skill, prohibited disclosure, recipient, retention and forwarding. Says whether a person has to approve it. Sends nothing.',
  input: inputOf({ draft_id: draftId }),
  output: Type.Object({
    draft: shownDraft,
    passed: Type.Boolean(),
    waits_for_person: Type.Boolean({ description: 'whether send_draft would answer waiting_for_person now' }),
    checks: Type.Array(check),
    content: Type.Object({}, { additionalProperties: true, description: 'exactly what would be sealed' }),
  }),
  annotations: { ...READS, openWorldHint: true },
  callsPerMinute: 60,
  takesContent: true,
  async run({ draft_id }, { session: { agent }, signal }) {
    const { draft, passed, checks, needsPerson } = await agent.drafts.evaluate(draft_id, { signal })
    const shown = checks.map(({ checkId, passed: isPassed, judged, failures }) => ({
      check_id: checkId,
      passed: isPassed,
      evaluated: judged,
      failures: failures.slice(0, SHOWN_FAILURES).map(({ pointer, message }) => ({ pointer, message })),
    }))
    const lines = shown.flatMap(({ check_id, passed: isPassed, evaluated, failures }) => [
      `${check_id}: ${isPassed ? 'passed' : evaluated ? 'FAILED' : 'not evaluated'}`,
      ...(evaluated ? failures.map(({ pointer, message }) => `  ${pointer}: ${message}`) : []),
    ])
    const verdict = passed ? 'All five checks passed.' : 'Not allowed by the policy.'
    return {
      structured: {
        draft: toShownDraft(draft),
        passed,
        waits_for_person: needsPerson,
        checks: shown,
        content: draft.object,
      },
      text: [verdict, ...(needsPerson ? ['A person has to approve it at the desk.'] : []), ...lines].join(
        '\n',
      ),
      untrusted: [contentBlock(draft)],
    }
  },
})

/** A draft may quote another company, so its content is marked like that of a package. */
function contentBlock({ sender, object }: StoredDraft) {
  const author = { organization_id: sender.organizationId, agent_id: sender.agentId }
  return untrustedBlock(author, object, OWN_DRAFT_NOTICE)
}
