import type { AddressBook } from '@agent-exchange/log'
import type { ProtocolObject } from '@agent-exchange/protocol'
import {
  threadStory,
  type AgentAddress,
  type Source,
  type ThreadObjects,
  type ThreadStory,
} from '@agent-exchange/sdk'
import { entryWords } from '@agent-exchange/sdk/internal'
import { html, type Html } from '@agent-exchange/web'
import { comparison, confidenceSection, handlingSection, undisclosedSection } from './story-details.ts'
import { createStoryParts } from './story-parts.ts'
import { factSection, pointSections } from './story-points.ts'

/** Stands for the id of a package that does not exist yet. */
const UNSENT = 'unsent'

export interface UnsentPackage {
  readonly object: ProtocolObject
  readonly from: AgentAddress
  readonly to: AgentAddress
  readonly respondsTo?: string
}

/** What the story of the thread, as the recipient reads it, takes from a package that is not sent yet. */
export function storyOfUnsent(thread: ThreadObjects, unsent: UnsentPackage, now: Date): ThreadStory {
  const { object, from, to, respondsTo } = unsent
  const added = {
    packageId: UNSENT,
    state: 'accepted',
    sentBy: from,
    sentTo: to,
    sentAt: now.toISOString(),
    ...(respondsTo !== undefined && { respondsTo }),
    content: { object },
  }
  const packages = [...thread.packages, added]
  const story = threadStory({ ...thread, reader: to.organizationId, packages }, now)
  const own = <Item extends { readonly source: Source }>(items: readonly Item[]) =>
    items.filter(({ source }) => source.packageId === UNSENT)
  return {
    ...story,
    agreed: own(story.agreed),
    disputed: own(story.disputed),
    proposed: own(story.proposed),
    decided: own(story.decided),
    open: own(story.open),
    due: own(story.due),
    facts: own(story.facts),
    options: own(story.options),
    constraints: own(story.constraints),
    confidence: own(story.confidence),
    handling: own(story.handling),
    versions: own(story.versions),
    notDisclosed: story.notDisclosed
      .filter(({ organizationId }) => organizationId === from.organizationId)
      .map((each) => ({
        ...each,
        items: each.items.filter(({ text }) => notDisclosedIn(object).includes(text)),
      }))
      .filter(({ items }) => items.length > 0),
  }
}

function notDisclosedIn(object: ProtocolObject): readonly string[] {
  return object.object_type === 'response_object' || object.object_type === 'reasoning_package'
    ? object.boundaries.not_disclosed
    : []
}

/** The same as a part of a page. */
export function previewView(story: ThreadStory, names: AddressBook): Html {
  const parts = createStoryParts(story, names, { unsent: UNSENT })
  const [entry] = story.conversation
  return html`<div class="story preview">
    ${
      entry &&
      html`<p>
        ${parts.company(entry.sentBy.organizationId)} → ${parts.company(entry.sentTo.organizationId)}:
        ${entryWords(entry)} ${entry.lead && parts.quote(entry.lead)}
      </p>`
    }
    ${pointSections(story, parts)} ${comparison('options', story, parts)}
    ${comparison('constraints', story, parts)} ${factSection(story, parts)} ${confidenceSection(story, parts)}
    ${undisclosedSection(story, parts)} ${handlingSection(story, parts)}
  </div>`
}
