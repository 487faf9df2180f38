import type { StoredDraft } from '@agent-exchange/sdk'
import type { AddressBook } from '@agent-exchange/log'
import {
  badge,
  emptyState,
  html,
  liveRegion,
  notice,
  pagingNavigation,
  shortIdentifier,
  table,
  visible,
  type Html,
  type Part,
} from '@agent-exchange/web'
import type { ReceivedDeadline, ThreadSummary } from './desk-agent.ts'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { streamAddress } from './desk-changes.ts'
import { MAXIMUM_THREAD_PAGES, OVERVIEW_THREADS, SHOWN_THREADS, SHOWN_WAITING } from './desk-limits.ts'
import { hasOneOf, SENDING_ROLES } from './desk-person.ts'
import { PLACE_TEXTS } from './texts/page-texts.ts'
import { TEXTS } from './texts/story-texts.ts'
import { draftTable } from './draft-table.ts'
import { dueRows, dueTable, nameIn, titleLink } from './due-table.ts'
import { readThreads, type ReadThreads } from './read-threads.ts'
import { ago, minute } from './shown-times.ts'
import { cutList, type ShownRows } from './waiting-list.ts'

/** What waits for the person, and the conversations by their titles. */
export async function overviewPage(call: DeskCall): Promise<DeskAnswer> {
  const { agent, now, query } = call
  const trouble = await agent.fetchEvents()
  const stream = await streamAddress(agent)
  const page = pageOf(query)
  const [{ drafts, sealed, endingKeys }, open, found, deadlines, names] = await Promise.all([
    agent.waiting(now),
    agent.drafts.list(),
    agent.threads(Math.max((page + 1) * SHOWN_THREADS + 1, agent.openDeadlines ? 0 : OVERVIEW_THREADS)),
    agent.openDeadlines?.() ?? [],
    agent.names(),
  ])
  const listed = found.slice(page * SHOWN_THREADS, (page + 1) * SHOWN_THREADS)
  const asked = threadsToRead(listed, agent.openDeadlines ? deadlines : found)
  const read = await readThreads(call, asked)
  const unread = asked.filter((threadId) => !read.has(threadId)).length
  const shown = { isAll: query.has('all') }
  const waiting = [
    dueTable(TEXTS.answersDue, dueRows(read, { isReaders: true, deadlines, now }), names, shown),
    draftList(TEXTS.drafts, drafts, { shown, now }),
    ...openDrafts(call, open, shown),
    packageList(TEXTS.unopened, read, 'unopened', { call, shown, names }),
    packageList(TEXTS.failedToOpen, read, 'cannot_open', { call, shown, names }),
    ...endingKeys.map(({ keyId, role, endsAt }) =>
      notice({
        tone: 'warn',
        title: TEXTS.endingKeys,
        text: html`<bdi class="id">${keyId}</bdi> (${role}): ${minute(endsAt)}.
          ${PLACE_TEXTS[agent.place].rotate}`,
      }),
    ),
    dueTable(
      TEXTS.answersDueFromOthers,
      dueRows(read, { isReaders: false, deadlines: [], now }),
      names,
      shown,
    ),
  ].filter((part) => part !== undefined)
  return {
    kind: 'page',
    title: TEXTS.desk,
    section: 'overview',
    main: liveRegion({
      id: 'overview',
      stream,
      content: html`${trouble !== undefined && notice({ tone: 'warn', title: TEXTS.notUpToDate, text: trouble })}
        ${unread > 0 && notice({ tone: 'warn', title: TEXTS.someUnread(unread, asked.length), text: TEXTS.someUnreadText })}
        <h2>${TEXTS.waiting}</h2>
        ${waiting.length > 0 ? waiting : unread === 0 && trouble === undefined ? emptyState({ title: TEXTS.nothingWaits, text: TEXTS.nothingWaitsText }) : html`<p>${TEXTS.nothingKnown}</p>`}
        ${
          sealed > 0 &&
          notice({ tone: 'info', title: TEXTS.sealed(sealed), text: PLACE_TEXTS[agent.place].resume })
        }
        <h2>${TEXTS.conversations}</h2>
        ${table({
          caption: TEXTS.conversations,
          hidesCaption: true,
          columns: TEXTS.conversationColumns.map((title, index) => ({ title, isNumeric: index === 3 })),
          rows: listed.map((thread) => threadRow(call, thread, { read, names })),
          empty: { title: TEXTS.noConversation, text: TEXTS.noConversationText },
        })}
        ${pagingNavigation(TEXTS.conversations, {
          ...(page > 0 && { first: '/' }),
          ...(found.length > (page + 1) * SHOWN_THREADS &&
            page + 1 < MAXIMUM_THREAD_PAGES && { next: `/?page=${page + 1}` }),
        })}`,
    }),
  }
}

function pageOf(query: URLSearchParams): number {
  const page = Number(query.get('page') ?? 0)
  return Number.isInteger(page) && page > 0 && page < MAXIMUM_THREAD_PAGES ? page : 0
}

/** The threads of the list, and those that may have an answer that is due. */
function threadsToRead(
  listed: readonly ThreadSummary[],
  others: readonly Pick<ReceivedDeadline, 'threadId'>[],
): readonly string[] {
  const ids = (threads: typeof others) => [...new Set(threads.map(({ threadId }) => threadId))]
  const due = 'dueAt' in (others[0] ?? {}) ? ids(others).slice(0, SHOWN_WAITING) : ids(others)
  return [...new Set([...ids(listed), ...due])]
}

/** Drafts that nobody has to decide about any more, for whoever can send or discard them. */
function openDrafts(
  { person, now }: DeskCall,
  open: readonly StoredDraft[],
  shown: ShownRows,
): readonly (Html | undefined)[] {
  if (!hasOneOf(person, SENDING_ROLES)) return []
  const inState = (...states: readonly StoredDraft['state'][]) =>
    open.filter(({ state }) => states.includes(state))
  return [
    draftList(TEXTS.draftsToSend, inState('approved', 'ready'), { shown, now }),
    draftList(TEXTS.draftsSetAside, inState('declined', 'void'), { shown, now }),
  ]
}

function draftList(
  heading: string,
  drafts: readonly StoredDraft[],
  { shown, now }: { readonly shown: ShownRows; readonly now: Date },
): Html | undefined {
  return cutList(heading, drafts, shown, (some) => draftTable(heading, some, now))
}

function threadRow(
  { agent, now }: DeskCall,
  { threadId, packages, last, pending }: ThreadSummary,
  { read, names }: { readonly read: ReadThreads; readonly names: AddressBook },
): readonly Part[] {
  const story = read.get(threadId)
  const others = (story?.companies ?? []).filter(({ isReader }) => !isReader)
  const own = agent.identity.organizationId
  return [
    html`${titleLink(threadId, story)}<br />
      <span class="below">${shortIdentifier(threadId)}</span>`,
    (others.length > 0 ? others.map(({ organizationId }) => organizationId) : story ? [own] : []).map(
      (id) => html`<bdi title="${visible(id)}">${nameIn(names, id)}</bdi> `,
    ),
    html`${last.event_type.replaceAll(/[._]/gu, ' ')} ${ago(last.occurred_at, now)}`,
    packages,
    pending > 0 ? badge('warn', TEXTS.notProcessed(pending)) : badge('good', TEXTS.processed),
  ]
}

function packageList(
  heading: string,
  read: ReadThreads,
  reason: 'unopened' | 'cannot_open',
  { call, shown, names }: { readonly call: DeskCall; readonly shown: ShownRows; readonly names: AddressBook },
): Html | undefined {
  const found = [...read].flatMap(([threadId, story]) =>
    story.conversation
      .filter(
        ({ unreadable, isRevoked, isExpired, sentTo }) =>
          unreadable?.reason === reason &&
          !isRevoked &&
          !isExpired &&
          sentTo.agentId === call.agent.identity.agentId,
      )
      .map((entry) => ({ entry, threadId, story })),
  )
  return cutList(
    heading,
    found,
    shown,
    (some) =>
      html`<ul>
        ${some.map(
          ({ entry, threadId, story }) =>
            html`<li>
              <a href="${pathTo('packages', entry.packageId)}"
                ><bdi>${entry.sentBy.agentId}</bdi> ${TEXTS.of}
                <bdi>${nameIn(names, entry.sentBy.organizationId)}</bdi></a
              >
              ${ago(entry.at, call.now)}, ${titleLink(threadId, story)}
              ${entry.unreadable?.detail !== undefined && html`(${visible(entry.unreadable.detail)})`}
            </li>`,
        )}
      </ul>`,
  )
}
