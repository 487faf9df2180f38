import type { ConversationEntry, ThreadStory } from '@agent-exchange/sdk'
import { entryWords, stateWords, STORY_HEADINGS, UNREADABLE_WORDS } from '@agent-exchange/sdk/internal'
import { attributes, badge, html, visible, type Html } from '@agent-exchange/web'
import { pathTo } from './desk-call.ts'
import { SHOWN_ENTRIES } from './desk-limits.ts'
import { TEXTS } from './texts/story-texts.ts'
import { day } from './shown-times.ts'
import type { StoryParts } from './story-parts.ts'

/** Every package in a line or two, newest first, folded; `page` opens it at earlier ones. */
export function conversationSection(
  { threadId, conversation, olderPackages }: ThreadStory,
  parts: StoryParts,
  page = 0,
): Html {
  const start = page * SHOWN_ENTRIES
  const end = start + SHOWN_ENTRIES
  return html`<details ${attributes({ class: 'conversation', id: CONVERSATION_ID, open: page > 0 })}>
    <summary>${STORY_HEADINGS.conversation} (${conversation.length + olderPackages})</summary>
    <ol>
      ${conversation.slice(start, end).map((entry) => html`<li>${entryView(entry, parts)}</li>`)}
    </ol>
    <p class="actions">
      ${page > 0 && html`<a href="${addressOf(threadId, page - 1)}">${TEXTS.newerPackages}</a>`}
      ${conversation.length > end && html`<a href="${addressOf(threadId, page + 1)}">${TEXTS.olderPackages}</a>`}
    </p>
    ${olderPackages > 0 && html`<p class="quiet">${TEXTS.older(olderPackages)}</p>`}
  </details>`
}

const CONVERSATION_ID = 'conversation'

function addressOf(threadId: string, page: number): string {
  return `${pathTo('threads', threadId)}?conversation=${page}#${CONVERSATION_ID}`
}

/** The page that the address asks for; the first one if it asks for none that exists. */
export function conversationPageOf(query: URLSearchParams, { conversation }: ThreadStory): number {
  const page = Number(query.get('conversation') ?? 0)
  return Number.isInteger(page) && page > 0 && page * SHOWN_ENTRIES < conversation.length ? page : 0
}

function entryView(entry: ConversationEntry, parts: StoryParts): Html {
  const { packageId, sentBy, sentTo, at, state, lead, respondsTo, unreadable, writtenBy } = entry
  return html`<p class="said">
      ${parts.cite({ packageId, by: sentBy, at })} ${parts.company(sentBy.organizationId)} →
      ${parts.company(sentTo.organizationId)}: ${entryWords(entry)}
      ${respondsTo !== undefined && html`(${parts.number(respondsTo)})`}
      ${badge(entry.isRevoked ? 'bad' : 'neutral', stateWords(state))}
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
    ${
      entry.isExpired
        ? html`<p class="said">${TEXTS.deleted}</p>`
        : entry.expiresAt !== undefined &&
          html`<p class="said">${TEXTS.deletesOn} ${day(entry.expiresAt)}</p>`
    }`
}
