import type { DueAnswer } from '@agent-exchange/sdk'
import { byDeadline, deadlineWords, titleWords } from '@agent-exchange/sdk/internal'
import type { AddressBook } from '@agent-exchange/log'
import {
  badge,
  emptyState,
  html,
  liveRegion,
  notice,
  shortIdentifier,
  table,
  visible,
  type Html,
  type Part,
} from '@agent-exchange/web'
import type { ThreadSummary } from './desk-agent.ts'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { streamAddress } from './desk-changes.ts'
import { SHOWN_WAITING } from './desk-limits.ts'
import { TEXTS } from './desk-texts.ts'
import { draftTable } from './draft-table.ts'
import { readThreads, type ReadThread } from './read-threads.ts'
import { ago, minute } from './shown-times.ts'
import { shownText } from './story-parts.ts'

/** What waits for the person, and the conversations by their titles. */
export async function overviewPage(call: DeskCall): Promise<DeskAnswer> {
  const { agent, now } = call
  const trouble = await agent.fetchEvents()
  const stream = await streamAddress(agent)
  const [{ drafts, sealed, endingKeys }, threads, names] = await Promise.all([
    agent.waiting(),
    agent.threads().then((found) => readThreads(call, found)),
    agent.names(),
  ])
  const waiting = [
    dueTable(TEXTS.answersDue, threads, names, true),
    ...(drafts.length === 0
      ? []
      : [
          html`<h3>${TEXTS.drafts}</h3>
            ${draftTable('Drafts that wait for an approval', drafts, now)}`,
        ]),
    packageList(TEXTS.unopened, threads, 'unopened', call),
    packageList(TEXTS.failedToOpen, threads, 'cannot_open', call),
    ...endingKeys.map(({ keyId, role, endsAt }) =>
      notice({
        tone: 'warn',
        title: TEXTS.endingKeys,
        text: html`<bdi class="id">${keyId}</bdi> (${role}): ${visible(endsAt)}. ${TEXTS.rotate}`,
      }),
    ),
    dueTable(TEXTS.answersDueFromOthers, threads, names, false),
  ].filter((part) => part !== undefined)
  return {
    kind: 'page',
    title: 'Desk',
    section: 'overview',
    main: liveRegion({
      id: 'overview',
      stream,
      content: html`${trouble !== undefined && notice({ tone: 'warn', title: TEXTS.notUpToDate, text: trouble })}
        <h2>${TEXTS.waiting}</h2>
        ${
          waiting.length === 0
            ? emptyState({ title: TEXTS.nothingWaits, text: TEXTS.nothingWaitsText })
            : waiting
        }
        ${
          sealed > 0 &&
          notice({
            tone: 'info',
            title: `${sealed} sealed, not yet accepted by the exchange.`,
            text: 'The agent sends them again when it runs “aex agent resume”.',
          })
        }
        <h2>${TEXTS.conversations}</h2>
        ${table({
          caption: TEXTS.conversations,
          hidesCaption: true,
          columns: [
            { title: 'About' },
            { title: 'With' },
            { title: 'Last event' },
            { title: 'Packages', isNumeric: true },
            { title: 'Events' },
          ],
          rows: threads.map((thread) => threadRow(call, thread, names)),
          empty: { title: TEXTS.noConversation, text: TEXTS.noConversationText },
        })}`,
    }),
  }
}

function threadRow(
  { agent, now }: DeskCall,
  { summary, story }: ReadThread,
  names: AddressBook,
): readonly Part[] {
  const { threadId, packages, last, pending } = summary
  const others = (story?.companies ?? []).filter(({ isReader }) => !isReader)
  const own = agent.identity.organizationId
  return [
    html`${titleLink(summary, story)}<br />
      <span class="below">${shortIdentifier(threadId)}</span>`,
    (others.length > 0 ? others.map(({ organizationId }) => organizationId) : story ? [own] : []).map(
      (id) => html`<bdi title="${visible(id)}">${nameIn(names, id)}</bdi> `,
    ),
    html`${last.event_type.replaceAll(/[._]/gu, ' ')} ${ago(last.occurred_at, now)}`,
    packages,
    pending > 0 ? badge('warn', `${pending} not processed`) : badge('good', 'all processed'),
  ]
}

function titleLink({ threadId }: ThreadSummary, story: ReadThread['story']): Html {
  const text = story ? shownText(titleWords(story.title)) : TEXTS.unread
  return html`<a href="${pathTo('threads', threadId)}"><bdi>${text}</bdi></a>`
}

function dueTable(
  heading: string,
  threads: readonly ReadThread[],
  names: AddressBook,
  isReaders: boolean,
): Html | undefined {
  const due = threads
    .flatMap(({ summary, story }) => (story?.due ?? []).map((each) => ({ each, summary, story })))
    .filter(({ each }) => each.isReaders === isReaders)
    .toSorted((left, right) => byDeadline(left.each, right.each))
  if (due.length === 0) return undefined
  return html`<h3>${heading}</h3>
    ${table({
      caption: heading,
      hidesCaption: true,
      columns: [{ title: 'Request' }, { title: 'About' }, { title: 'From' }, { title: 'Deadline' }],
      rows: due
        .slice(0, SHOWN_WAITING)
        .map(({ each, summary, story }) => [
          isReaders
            ? html`<a href="${pathTo('threads', summary.threadId)}"
                ><bdi>${shownText(each.request.text)}</bdi></a
              >`
            : html`<bdi>${shownText(each.request.text)}</bdi>`,
          titleLink(summary, story),
          html`<bdi>${nameIn(names, isReaders ? each.source.by.organizationId : each.owedBy)}</bdi>`,
          deadlineBadge(each),
        ]),
    })}`
}

function deadlineBadge({ deadline }: DueAnswer): Html {
  const tone = deadline.isOverdue ? 'bad' : deadline.days < 2 ? 'warn' : 'neutral'
  return html`${badge(tone, deadlineWords(deadline))}<br />${minute(deadline.at)}`
}

function packageList(
  heading: string,
  threads: readonly ReadThread[],
  reason: 'unopened' | 'cannot_open',
  { agent, now }: DeskCall,
): Html | undefined {
  const found = threads.flatMap(({ summary, story }) =>
    (story?.conversation ?? [])
      .filter(
        ({ unreadable, isRevoked, isExpired, sentTo }) =>
          unreadable?.reason === reason &&
          !isRevoked &&
          !isExpired &&
          sentTo.agentId === agent.identity.agentId,
      )
      .map((entry) => ({ entry, summary, story })),
  )
  if (found.length === 0) return undefined
  return html`<h3>${heading}</h3>
    <ul>
      ${found.slice(0, SHOWN_WAITING).map(
        ({ entry, summary, story }) =>
          html`<li>
            <a href="${pathTo('packages', entry.packageId)}"
              ><bdi>${entry.sentBy.agentId}</bdi> of <bdi>${entry.sentBy.organizationId}</bdi></a
            >
            ${ago(entry.at, now)}, ${titleLink(summary, story)}
            ${entry.unreadable?.detail !== undefined && html`(${visible(entry.unreadable.detail)})`}
          </li>`,
      )}
    </ul>`
}

function nameIn(names: AddressBook, id: string): string {
  return visible((Object.hasOwn(names, id) ? names[id] : undefined) ?? id)
}
