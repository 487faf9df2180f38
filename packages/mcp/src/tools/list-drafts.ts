import { Type } from 'typebox'
import { draftLine, shownDraft, toShownDraft } from '../content/shown-draft.ts'
import { MAXIMUM_LISTED } from '../mcp-limits.ts'
import { defineTool, READS } from '../server/tool.ts'
import { inputOf, listLimit } from './common-schemas.ts'

export const listDrafts = defineTool({
  name: 'list_drafts',
  title: 'List drafts',
  verb: 'draft',
  description: 'Lists drafts that are not sent yet, oldest first, and says which ones wait for a person.',
  input: inputOf({ limit: listLimit(MAXIMUM_LISTED) }),
  output: Type.Object({
    drafts: Type.Array(shownDraft),
    damaged: Type.Array(Type.String({ description: 'id of a draft that can only be discarded' })),
  }),
  annotations: READS,
  callsPerMinute: 30,
  async run({ limit = MAXIMUM_LISTED }, { session: { agent } }) {
    const drafts = (await agent.drafts.list()).slice(0, limit).map(toShownDraft)
    const damaged = [...(await agent.drafts.damaged())].slice(0, limit)
    return {
      structured: { drafts, damaged },
      text: [`${drafts.length} drafts.`, ...drafts.map(draftLine)].join('\n'),
    }
  },
})
