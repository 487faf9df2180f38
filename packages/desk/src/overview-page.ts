import {
  badge,
  emptyState,
  html,
  liveRegion,
  notice,
  relativeTime,
  shortIdentifier,
  table,
  type Part,
} from '@agent-exchange/web'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { streamAddress } from './desk-changes.ts'
import { draftTable } from './draft-table.ts'
import { counterpartOf, fetchEvents, threadsOf, type ThreadSummary } from './threads.ts'

/** What waits for the person, and the conversations. */
export async function overviewPage(call: DeskCall): Promise<DeskAnswer> {
  const { agent, now } = call
  const trouble = await fetchEvents(agent)
  const stream = await streamAddress(agent)
  const [{ forPerson, sealed }, threads] = await Promise.all([agent.pending(), threadsOf(agent)])
  const rows = await Promise.all(threads.map((thread) => threadRow(call, thread)))
  return {
    kind: 'page',
    title: 'Desk',
    section: 'overview',
    main: liveRegion({
      id: 'overview',
      stream,
      content: html`${trouble !== undefined && notice({ tone: 'warn', title: 'Not up to date', text: trouble })}
        <h2>Waiting for you</h2>
        ${
          forPerson.length === 0
            ? emptyState({
                title: 'Nothing waits for an approval.',
                text: 'Drafts that need a person appear here.',
              })
            : draftTable('Drafts that wait for an approval', forPerson, now)
        }
        ${
          sealed.length > 0 &&
          notice({
            tone: 'info',
            title: `${sealed.length} sealed, not yet accepted by the exchange.`,
            text: 'The agent sends them again when it runs “aex agent resume”.',
          })
        }
        <h2>Conversations</h2>
        ${table({
          caption: 'Conversations',
          hidesCaption: true,
          columns: [
            { title: 'With' },
            { title: 'Last event' },
            { title: 'Packages', isNumeric: true },
            { title: 'Events' },
          ],
          rows,
          empty: {
            title: 'No conversation yet.',
            text: 'The first package that arrives or is sent starts one.',
          },
        })}`,
    }),
  }
}

async function threadRow({ agent, now }: DeskCall, thread: ThreadSummary): Promise<readonly Part[]> {
  const { threadId, packages, last, pending } = thread
  const other = await counterpartOf(agent, last.package_id)
  return [
    html`${other && html`<bdi>${other.agentId}</bdi> of <bdi>${other.organizationId}</bdi><br />`}
    ${shortIdentifier(threadId, pathTo('threads', threadId))}`,
    html`${last.event_type.replaceAll(/[._]/gu, ' ')} ${relativeTime(new Date(last.occurred_at), now)}`,
    packages,
    pending > 0 ? badge('warn', `${pending} not processed`) : badge('good', 'all processed'),
  ]
}
