import { asUnknownPeer } from '@agent-exchange/sdk/internal'
import type { DraftInput } from '@agent-exchange/sdk'
import { Type } from 'typebox'
import { DRAFTED_TYPES, draftObject } from '../content/draft-object.ts'
import { policyNamed } from '../content/policies.ts'
import { draftLine, shownDraft, toShownDraft } from '../content/shown-draft.ts'
import { defineTool } from '../server/tool.ts'
import { agentIdText, inputOf, packageId, threadIdText } from './common-schemas.ts'
import { content, expiresAt, policyId, requirePerson, WRITES_DRAFT } from './draft-inputs.ts'

export const draftPackage = defineTool({
  name: 'draft_package',
  title: 'Draft a package',
  verb: 'draft',
  description:
    'Stores a draft of a package for an agent of another company; sends nothing. `content` holds the members of the object that describe the matter: see aex://schemas/{object_type}. Ids, parties, times and the policy are filled in. A draft never changes: to correct it, draft again and discard the old one.',
  input: inputOf({
    to: agentIdText,
    object_type: Type.Enum([...DRAFTED_TYPES], {
      description: 'what to write; its schema is aex://schemas/{object_type}',
    }),
    policy_id: policyId,
    content,
    thread_id: Type.Optional({ ...threadIdText, description: 'thread to continue (default: a new one)' }),
    about: Type.Optional({ ...packageId, description: 'package that a story or an audit event refers to' }),
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
    const recipient = await agent.context.connection
      .call('getAgent', { path: { agent_id: input.to }, signal })
      .catch((error: unknown) => {
        throw asUnknownPeer(error, input.to)
      })
    const object = draftObject(input.object_type, input.content, {
      by: agent.identity,
      to: recipient.organization_id,
      now: now(),
      policy,
      ...(input.thread_id !== undefined && { threadId: input.thread_id }),
      ...(input.about !== undefined && { about: input.about }),
    })
    const draft = await agent.drafts.create({
      object,
      policy,
      skill,
      to: { organizationId: recipient.organization_id, agentId: input.to },
      ...(input.expires_at !== undefined && { expiresAt: input.expires_at }),
      ...(input.require_person !== undefined && { requireApproval: input.require_person }),
    } as unknown as DraftInput)
    const shown = toShownDraft(draft)
    return { structured: shown, text: `Drafted. ${draftLine(shown)}. Check it with check_draft.` }
  },
})
