import type { DraftInput } from '@agent-exchange/sdk'
import { draftObject } from '../content/draft-object.ts'
import { policyNamed } from '../content/policies.ts'
import { draftLine, shownDraft, toShownDraft } from '../content/shown-draft.ts'
import { defineTool } from '../server/tool.ts'
import { inputOf, packageId } from './common-schemas.ts'
import { content, expiresAt, policyId, requirePerson, WRITES_DRAFT } from './draft-inputs.ts'

export const answerPackage = defineTool({
  name: 'answer_package',
  title: 'Draft an answer',
  verb: 'draft',
  description:
    'Stores a draft of the answer to a package that was sent to this organization; sends nothing. `content` holds response_actions (such as ["agree"]), response_summary and optional members: see aex://schemas/response_object. Ids, parties, times and the policy are filled in.',
  input: inputOf({
    package_id: { ...packageId, description: 'package to answer' },
    policy_id: policyId,
    content,
    expires_at: expiresAt,
    require_person: requirePerson,
  }),
  output: shownDraft,
  annotations: WRITES_DRAFT,
  callsPerMinute: 30,
  takesContent: true,
  async run(input, { session, signal }) {
    const { agent, now, skill } = session
    const policy = policyNamed(await agent.policies(), input.policy_id)
    const metadata = await agent.answerable(input.package_id, { signal })
    const object = draftObject('response_object', input.content, {
      by: agent.identity,
      to: metadata.sender_org_id,
      now: now(),
      policy,
      threadId: metadata.thread_id,
      about: input.package_id,
    })
    const draft = await agent.drafts.create({
      object,
      policy,
      skill,
      respondsTo: input.package_id,
      ...(input.expires_at !== undefined && { expiresAt: input.expires_at }),
      ...(input.require_person !== undefined && { requireApproval: input.require_person }),
    } as unknown as DraftInput)
    const shown = toShownDraft(draft)
    return { structured: shown, text: `Drafted. ${draftLine(shown)}. Check it with check_draft.` }
  },
})
