import type { DueAnswer, ThreadStory } from '@agent-exchange/sdk'
import { byDeadline, deadlineAt, deadlineWords, titleWords } from '@agent-exchange/sdk/internal'
import type { AddressBook } from '@agent-exchange/log'
import { badge, html, table, visible, type Html } from '@agent-exchange/web'
import type { ReceivedDeadline } from './desk-agent.ts'
import { pathTo } from './desk-call.ts'
import { TEXTS } from './texts/story-texts.ts'
import type { ReadThreads } from './read-threads.ts'
import { minute } from './shown-times.ts'
import { shownText } from './story-parts.ts'
import { cutList, type ShownRows } from './waiting-list.ts'

/** An answer that is due. Only its story says more than the deadline. */
interface DueRow extends Pick<DueAnswer, 'deadline'> {
  readonly threadId: string
  readonly known?: { readonly answer: DueAnswer; readonly story: ThreadStory }
}

/** From the stories that were read; for other threads from the deadlines that the host keeps. */
export function dueRows(
  read: ReadThreads,
  { isReaders, deadlines, now }: { isReaders: boolean; deadlines: readonly ReceivedDeadline[]; now: Date },
): readonly DueRow[] {
  const fromStories = [...read].flatMap(([threadId, story]) =>
    story.due
      .filter((answer) => answer.isReaders === isReaders)
      .map((answer) => ({ threadId, deadline: answer.deadline, known: { answer, story } })),
  )
  const unread = deadlines
    .filter(({ threadId }) => !read.has(threadId))
    .flatMap(({ threadId, dueAt }) => {
      const deadline = deadlineAt(dueAt, now)
      return deadline ? [{ threadId, deadline }] : []
    })
  return [...fromStories, ...unread].toSorted(byDeadline)
}

export function dueTable(
  heading: string,
  rows: readonly DueRow[],
  names: AddressBook,
  shown: ShownRows,
): Html | undefined {
  return cutList(heading, rows, shown, (some) =>
    table({
      caption: heading,
      hidesCaption: true,
      columns: TEXTS.dueColumns.map((title) => ({ title })),
      rows: some.map(({ threadId, deadline, known }) => [
        requestLink(threadId, known?.answer),
        known ? titleLink(threadId, known.story) : TEXTS.unread,
        known ? html`<bdi>${nameIn(names, otherOf(known.answer))}</bdi>` : '',
        deadlineBadge(deadline),
      ]),
    }),
  )
}

function requestLink(threadId: string, answer: DueAnswer | undefined): Html {
  const text = html`<bdi>${answer ? shownText(answer.request.text) : TEXTS.openConversation}</bdi>`
  return answer?.isReaders === false ? text : html`<a href="${pathTo('threads', threadId)}">${text}</a>`
}

function otherOf({ isReaders, source, owedBy }: DueAnswer): string {
  return isReaders ? source.by.organizationId : owedBy
}

export function titleLink(threadId: string, story: ThreadStory | undefined): Html {
  const text = story ? shownText(titleWords(story.title)) : TEXTS.unread
  return html`<a href="${pathTo('threads', threadId)}"><bdi>${text}</bdi></a>`
}

function deadlineBadge(deadline: DueAnswer['deadline']): Html {
  const tone = deadline.isOverdue ? 'bad' : deadline.days < 2 ? 'warn' : 'neutral'
  return html`${badge(tone, deadlineWords(deadline))}<br />${minute(deadline.at)}`
}

export function nameIn(names: AddressBook, id: string): string {
  return visible((Object.hasOwn(names, id) ? names[id] : undefined) ?? id)
}
