import { Type } from 'typebox'
import { draftId } from '../content/shown-draft.ts'
import { defineTool } from '../server/tool.ts'
import { inputOf } from './common-schemas.ts'

export const discardDraft = defineTool({
  name: 'discard_draft',
  title: 'Discard a draft',
  verb: 'draft',
  description: 'Deletes a draft that is not sent, with the decision of a person about it. Cannot be undone.',
  input: inputOf({ draft_id: draftId }),
  output: Type.Object({ draft_id: draftId, discarded: Type.Literal(true) }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  callsPerMinute: 30,
  async run({ draft_id }, { session: { agent } }) {
    await agent.drafts.discard(draft_id)
    return { structured: { draft_id, discarded: true as const }, text: `${draft_id} is discarded.` }
  },
})
