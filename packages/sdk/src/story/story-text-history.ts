import { visibleText } from '@agent-exchange/log'
import type { StoryLines } from './story-lines.ts'
import { entryWords, PART_WORDS, STORY_STATUS_WORDS, UNREADABLE_WORDS } from './story-words.ts'
import type { ConversationEntry, StoryVersion } from './story-types.ts'

/** A version of the network story with what changed. */
export function versionLines(found: StoryVersion, lines: StoryLines): string[] {
  const { version, status, summary, source, isCurrent, changes } = found
  return lines.item(
    `version ${version}, ${STORY_STATUS_WORDS[status]}${isCurrent ? ', current' : ''}: ${lines.quote(summary)}`,
    `${lines.name(source.by.organizationId)}, ${lines.cite(source)}`,
    ...lines.some(changes, ({ kind, part, text }) => `${kind}: ${PART_WORDS[part]} ${lines.quote(text)}`),
  )
}

export function entryLines(entry: ConversationEntry, lines: StoryLines): string[] {
  const { packageId, sentBy, sentTo, at, lead, respondsTo, unreadable, writtenBy, isExpired, isRevoked } =
    entry
  const [from, to] = [lines.name(sentBy.organizationId), lines.name(sentTo.organizationId)]
  const answered = respondsTo === undefined ? '' : `, answers ${lines.number(respondsTo)}`
  const detail = unreadable?.detail === undefined ? '' : ` (${visibleText(unreadable.detail)})`
  return lines.item(
    `${lines.number(packageId)} ${lines.time(at)}, ${from} to ${to}: ${entryWords(entry)}${answered}`,
    ...(lead ? [lines.quote(lead)] : []),
    ...(unreadable && !isRevoked ? [`not readable: ${UNREADABLE_WORDS[unreadable.reason]}${detail}`] : []),
    ...(writtenBy ? [`written by ${lines.name(writtenBy.organizationId)}, as the object itself says`] : []),
    ...(isExpired ? ['the exchange has deleted the content'] : []),
  )
}
