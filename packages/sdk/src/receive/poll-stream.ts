import type { NotificationPage } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import type { GapReason, Inbox } from './inbox.ts'
import { FIXED_LIMITS, RECEIVE_LIMITS } from './receive-limits.ts'
import { incoming } from './notification.ts'
import type { OnReport } from './reports.ts'

export interface PollOptions {
  readonly inbox: Inbox
  readonly pageItems?: number
  readonly signal?: AbortSignal
  readonly onReport: OnReport
  /** Called after each page, so that processing starts before the last one. */
  readonly onPage?: () => void
}

/**
 * Reads the organization's stream from the stored cursor to its end. A page and its cursor are stored atomically, so a
 * crash repeats a page and never skips one. Returns whether the end was reached.
 */
export async function pollStream(context: AgentContext, options: PollOptions): Promise<boolean> {
  const { inbox, onReport, onPage } = options
  let gapReason: GapReason | undefined
  for (let pages = 0; pages < FIXED_LIMITS.pagesPerRound; pages++) {
    const { cursor, polledThrough } = await inbox.position()
    const page = await readPage(context, cursor, options)
    if (page === 'cursor_refused') {
      gapReason = 'expired'
      await inbox.dropCursor()
      continue
    }
    gapReason ??= polledThrough === 0 ? 'before_first_poll' : 'absent'
    const result = await inbox.storePage({
      events: ownEvents(context, page).map(incoming),
      nextCursor: page.next_cursor,
      storedAt: context.now().toISOString(),
      gapReason,
    })
    for (const { eventId: event_id, sequence } of result.conflicts) {
      const error = new ExchangeError('event_conflict', { details: { event_id, sequence } })
      onReport({ kind: 'event_conflict', error })
    }
    for (const gap of result.gaps) onReport({ kind: 'gap', gap })
    onPage?.()
    // A gap before the first page after a reset has expired; later gaps are absent.
    if (page.items.length > 0) gapReason = undefined
    if (!page.has_more) return true
    if (page.items.length === 0 || page.next_cursor === cursor) throw stuck()
  }
  return false
}

async function readPage(
  { connection }: AgentContext,
  cursor: string | undefined,
  { pageItems = RECEIVE_LIMITS.pageItems, signal }: PollOptions,
): Promise<NotificationPage | 'cursor_refused'> {
  try {
    return await connection.call('listNotifications', {
      query: { after: cursor, limit: pageItems },
      ...(signal && { signal }),
    })
  } catch (error) {
    const code = error instanceof ExchangeError ? error.problem?.code : undefined
    // The cursor expired, or the exchange lost its secrets: restart at the earliest retained event.
    if (cursor !== undefined && (code === 'cursor_expired' || code === 'cursor_invalid'))
      return 'cursor_refused'
    throw error
  }
}

/** Items must be in order and of this organization. */
function ownEvents({ identity }: AgentContext, { items }: NotificationPage) {
  const isOurs = items.every(
    ({ organization_id, sequence }, i) =>
      organization_id === identity.organizationId && sequence > (items[i - 1]?.sequence ?? -1),
  )
  if (isOurs) return items
  const what = 'The page of notifications is out of order or of another organization.'
  throw new ExchangeError('exchange_answer_unreadable', { what })
}

function stuck(): ExchangeError {
  const what = 'The exchange says that there is more, and gives no way to it.'
  return new ExchangeError('exchange_answer_unreadable', { what, retryable: true })
}
