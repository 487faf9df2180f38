import { visibleText } from '@agent-exchange/log'
import { dateOfInstant } from '@agent-exchange/protocol'
import { labelOf } from '../objects/object-outline.ts'
import { deadlineWords, ruleWords } from './story-words.ts'
import type { Deadline, Quote, Source, StoryPoint, ThreadStory } from './story-types.ts'

export interface StoryTextOptions {
  /** Names that the reader gave to organizations. */
  readonly names?: Readonly<Record<string, string>>
}

const WIDTH = 80
/** Items of a section; what is left out is counted. */
const MAXIMUM_ITEMS = 50
/** Ids in one line. */
const MAXIMUM_LISTED = 8
/** Longer texts of companies are shortened. */
const MAXIMUM_QUOTE = 1_000

export type StoryLines = ReturnType<typeof createStoryLines>

/** What every part of the text is made of. */
export function createStoryLines(story: ThreadStory, { names = {} }: StoryTextOptions) {
  const numbers = new Map(
    story.conversation.map(({ packageId }, index) => [
      packageId,
      story.olderPackages + story.conversation.length - index,
    ]),
  )
  const recipients = new Map(
    story.conversation.map(({ packageId, sentTo }) => [packageId, sentTo.organizationId]),
  )
  const name = (id: string): string => visibleText((Object.hasOwn(names, id) ? names[id] : undefined) ?? id)
  const number = (packageId: string): string => `#${numbers.get(packageId) ?? '?'}`
  return {
    name,
    number,
    time,
    label: (text: string): string => labelOf(visibleText(text)),
    cite: ({ packageId, at }: Source): string => `${number(packageId)} of ${time(at)}`,
    quote: ({ text }: Quote): string => `“${visibleText(shortened(text)).replaceAll(/[“”]/gu, '"')}”`,
    deadline: (deadline: Deadline): string => deadlineWords(deadline),
    list: (items: readonly string[]): string =>
      items.length > MAXIMUM_LISTED
        ? `${items.slice(0, MAXIMUM_LISTED).map(visibleText).join(', ')} and ${items.length - MAXIMUM_LISTED} more`
        : items.map(visibleText).join(', '),
    /** The first entries of a list that belongs to one item, each as a line. */
    some: <Item>(items: readonly Item[], render: (item: Item) => string): string[] => [
      ...items.slice(0, MAXIMUM_LISTED).map(render),
      ...(items.length > MAXIMUM_LISTED ? [`and ${items.length - MAXIMUM_LISTED} more`] : []),
    ],
    sentence: ({ rule, source }: StoryPoint): string =>
      ruleWords(rule, name(source.by.organizationId), name(recipients.get(source.packageId) ?? '')),
    wrap,
    item: (...parts: readonly string[]): string[] =>
      parts.flatMap((part, index) => wrap(part, index === 0 ? '  - ' : '    ')),
    section: <Item>(
      heading: string,
      items: readonly Item[],
      render: (item: Item) => readonly string[],
    ): string[] =>
      items.length === 0
        ? []
        : [
            '',
            heading.toUpperCase(),
            ...items.slice(0, MAXIMUM_ITEMS).flatMap(render),
            ...(items.length > MAXIMUM_ITEMS ? [`  and ${items.length - MAXIMUM_ITEMS} more`] : []),
          ],
  }
}

function time(text: string): string {
  const at = dateOfInstant(text)
  return at ? `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC` : visibleText(text)
}

function shortened(text: string): string {
  return text.length > MAXIMUM_QUOTE ? `${text.slice(0, MAXIMUM_QUOTE)}…` : text
}

/** Lines after the first are indented as deep as the text of the first. */
function wrap(text: string, indent: string): string[] {
  const hanging = ' '.repeat(indent.length)
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/u)) {
    if (line !== '' && indent.length + line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((each, index) => `${index === 0 ? indent : hanging}${each}`)
}
