import type { ConversationEntry, ThreadStory } from '@agent-exchange/sdk'
import { entryWords, STORY_HEADINGS, UNREADABLE_WORDS } from '@agent-exchange/sdk/internal'
import { badge, html, visible, type Html } from '@agent-exchange/web'
import { SHOWN_ENTRIES } from './desk-limits.ts'
import { TEXTS } from './desk-texts.ts'
import type { StoryParts } from './story-parts.ts'

/** Every package in a line or two, newest first, folded. Its own page has it in full. */
export function conversationSection({ conversation, olderPackages }: ThreadStory, parts: StoryParts): Html {
  const hidden = olderPackages + Math.max(0, conversation.length - SHOWN_ENTRIES)
  return html`<details class="conversation">
    <summary>${STORY_HEADINGS.conversation} (${conversation.length + olderPackages})</summary>
    <ol>
      ${conversation.slice(0, SHOWN_ENTRIES).map((entry) => html`<li>${entryView(entry, parts)}</li>`)}
    </ol>
    ${hidden > 0 && html`<p class="quiet">${TEXTS.older(hidden)}</p>`}
  </details>`
}

function entryView(entry: ConversationEntry, parts: StoryParts): Html {
  const { packageId, sentBy, sentTo, at, state, lead, respondsTo, unreadable, writtenBy } = entry
  return html`<p class="said">
      ${parts.cite({ packageId, by: sentBy, at })} ${parts.company(sentBy.organizationId)} →
      ${parts.company(sentTo.organizationId)}: ${entryWords(entry)}
      ${respondsTo !== undefined && html`(${parts.number(respondsTo)})`}
      ${badge(entry.isRevoked ? 'bad' : 'neutral', state.replaceAll('_', ' '))}
    </p>
    ${lead && parts.quote(lead)}
    ${
      unreadable &&
      !entry.isRevoked &&
      html`<p class="said">
        ${TEXTS.notReadable} ${UNREADABLE_WORDS[unreadable.reason]}
        ${unreadable.detail !== undefined && html`(<bdi>${visible(unreadable.detail)}</bdi>)`}
      </p>`
    }
    ${
      writtenBy &&
      html`<p class="said">
        ${TEXTS.writtenBy} ${parts.company(writtenBy.organizationId)}, ${TEXTS.asObjectSays}
      </p>`
    }
    ${entry.isExpired && html`<p class="said">${TEXTS.deleted}</p>`}`
}
