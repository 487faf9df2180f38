import type { Quote, Source, ThreadStory } from '@agent-exchange/sdk'
import { attributes, html, visible, type Html } from '@agent-exchange/web'
import type { AddressBook } from '@agent-exchange/log'
import { pathTo } from './desk-call.ts'
import { SHOWN_CHARACTERS, SHOWN_ITEMS } from './desk-limits.ts'
import { TEXTS } from './texts/story-texts.ts'
import { shortTime } from './shown-times.ts'

export type StoryParts = ReturnType<typeof createStoryParts>

interface StoryReading {
  /** The agent whose desk shows the story: it answers what is addressed to it. */
  readonly answeringAgent?: string
  /** A package that is not sent yet. It has no page. */
  readonly unsent?: string
}

/** What every section of a story is made of. */
export function createStoryParts(
  story: ThreadStory,
  names: AddressBook,
  { answeringAgent, unsent }: StoryReading = {},
) {
  const newestAt = story.conversation[0]?.at ?? ''
  const total = story.olderPackages + story.conversation.length
  const numbers = new Map(story.conversation.map(({ packageId }, index) => [packageId, total - index]))
  const recipients = new Map(
    story.conversation.map(({ packageId, sentTo }) => [packageId, sentTo.organizationId]),
  )
  const answerable = new Set(
    story.conversation
      .filter(
        ({ sentTo, unreadable, isRevoked }) => sentTo.agentId === answeringAgent && !unreadable && !isRevoked,
      )
      .map(({ packageId }) => packageId),
  )
  const nameOf = (id: string): string => visible((Object.hasOwn(names, id) ? names[id] : undefined) ?? id)
  const number = (packageId: string): Html => {
    const found = numbers.get(packageId)
    return found === undefined || packageId === unsent
      ? html`#${String(found ?? '?')}`
      : html`<a href="${pathTo('packages', packageId)}">#${String(found)}</a>`
  }
  return {
    nameOf,
    number,
    /** Whether the reader can answer the package: it is addressed to this desk, and open. */
    isAnswerable: (packageId: string): boolean => answerable.has(packageId),
    recipientOf: (packageId: string): string => nameOf(recipients.get(packageId) ?? ''),
    company: (id: string): Html => html`<bdi class="company" title="${visible(id)}">${nameOf(id)}</bdi>`,
    /** Text of a company, in quotation marks and in the colour of its side. The id is for whoever points at it. */
    quote: ({ text, isReaders }: Quote, id?: string): Html =>
      html`<q
        ${attributes({ class: isReaders ? 'ours' : 'theirs', title: id === undefined ? undefined : visible(id) })}
        ><bdi>${shownText(text)}</bdi></q
      >`,
    cite: ({ packageId, at }: Source): Html =>
      html`<span class="quiet">${number(packageId)}, ${shortTime(at, newestAt)}</span>`,
  }
}

export function shownText(text: string): string {
  return visible(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text)
}

/** How many items a cut list leaves out; nothing if it shows all. */
export function moreThan(shown: number, { length }: readonly unknown[]): Html | undefined {
  return length > shown ? html`<span class="quiet">${length - shown} ${TEXTS.more}</span>` : undefined
}

/** A heading with the first items, and how many more there are; nothing for an empty list. */
export function listSection<Item>(
  heading: string,
  items: readonly Item[],
  render: (item: Item) => Html,
  tone = 'plain-section',
): Html | undefined {
  if (items.length === 0) return undefined
  return html`<section class="story-part ${tone}">
    <h2>${heading}</h2>
    <ul>
      ${items.slice(0, SHOWN_ITEMS).map((item) => html`<li>${render(item)}</li>`)}
    </ul>
    ${below(moreThan(SHOWN_ITEMS, items))}
  </section>`
}

/** Below a list or a table. */
export function below(more: Html | undefined): Html | undefined {
  return more && html`<p>${more}</p>`
}
