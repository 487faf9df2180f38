import { fragment, type Queries, type Transaction } from '@agent-exchange/database'
import type { Gap, InboxEvent, IncomingEvent, EventSource, StoreOutcome } from '@agent-exchange/sdk'
import type { InboxContents } from '@agent-exchange/sdk/internal/node'
import { missingRanges, withoutSequence } from '@agent-exchange/sdk/internal'

/** How far the stream of an agent was read. */
export interface StreamRow {
  readonly stream: string | null
  readonly cursor: string | null
  readonly polled_through: number
  readonly contiguous: number
  readonly highest: number
  readonly pruned_through: number
  readonly lease_event_id: string | null
  readonly lease_holder: string | null
  readonly lease_until: string | null
}

export interface EventRow {
  readonly event_id: string
  readonly sequence: number
  readonly notification_id: string
  readonly body: string
  readonly source: string
  readonly stored_at: string
  readonly state: string
  readonly attempts: number
  readonly reason: string | null
  readonly finished_at: string | null
}

interface GapRow {
  readonly first_sequence: number
  readonly last_sequence: number
  readonly reason: string
  readonly noticed_at: string
}

export function toEvent(row: EventRow): InboxEvent {
  return {
    eventId: row.event_id,
    notificationId: row.notification_id,
    sequence: row.sequence,
    body: row.body,
    source: row.source as InboxEvent['source'],
    storedAt: row.stored_at,
    state: row.state as InboxEvent['state'],
    attempts: row.attempts,
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.finished_at !== null && { finishedAt: row.finished_at }),
  }
}

const toGap = (row: GapRow): Gap => ({
  firstSequence: row.first_sequence,
  lastSequence: row.last_sequence,
  reason: row.reason as Gap['reason'],
  noticedAt: row.noticed_at,
})

/** What is stored about an event that arrives. */
interface Known {
  readonly events: readonly EventRow[]
  readonly gap: Gap | undefined
}

interface Arrival {
  readonly source: EventSource
  readonly storedAt: string
  readonly stream: StreamRow
}

/** For an event that its key finds. No index is used for it: that of the states would read all events in this one. */
const isIn = (state: InboxEvent['state']) => fragment`state is not distinct from ${state}`

/** The changes of one agent's events, under the lock of its stream row. Owner of agent_event and agent_gap. */
export function eventRows(tx: Transaction, agentId: string) {
  const addGap = (gap: Gap) => tx`
    insert into agent_gap (agent_id, first_sequence, last_sequence, reason, noticed_at)
    values (${agentId}, ${gap.firstSequence}, ${gap.lastSequence}, ${gap.reason}, ${gap.noticedAt})`

  return {
    /** What is known of an event: those with its id or sequence, and the gap that it closes. */
    async find({ eventId, sequence }: IncomingEvent): Promise<Known> {
      const [events, gaps] = await Promise.all([
        tx<EventRow[]>`
          select event_id, body from agent_event where agent_id = ${agentId} and event_id = ${eventId}
          union all
          select event_id, body from agent_event where agent_id = ${agentId} and sequence = ${sequence}`,
        tx<GapRow[]>`
          select first_sequence, last_sequence, reason, noticed_at from agent_gap
          where agent_id = ${agentId} and first_sequence <= ${sequence} and last_sequence >= ${sequence}`,
      ])
      return { events, gap: gaps.map(toGap)[0] }
    },

    /**
     * Inserts an event of which nothing is known, as nearly every one: the stream has a row, no event has its id or
     * sequence, it closes no gap, and it is later than what was removed.
     */
    async insertUnknown(
      event: IncomingEvent,
      { source, storedAt }: Pick<Arrival, 'source' | 'storedAt'>,
    ): Promise<boolean> {
      const { eventId, sequence, notificationId, body } = event
      const { count } = await tx`
        insert into agent_event (agent_id, event_id, sequence, notification_id, body, source, stored_at)
        select ${agentId}, ${eventId}, ${sequence}, ${notificationId}, ${body}, ${source}, ${storedAt}
        from agent_stream where agent_id = ${agentId} and ${sequence} > pruned_through
          and not exists (
            select from agent_gap where agent_id = ${agentId} and first_sequence <= ${sequence}
              and last_sequence >= ${sequence})
        on conflict do nothing`
      return count > 0
    },

    async insert(
      event: IncomingEvent,
      { events, gap }: Known,
      { source, storedAt, stream }: Arrival,
    ): Promise<StoreOutcome> {
      const { eventId, sequence, notificationId, body } = event
      const same = events.find((row) => row.event_id === eventId) ?? events[0]
      if (same) return same.event_id === eventId && same.body === body ? 'duplicate' : 'conflict'
      // Below the highest removed sequence, not stored and no gap: processed and pruned.
      if (!gap && sequence <= stream.pruned_through) return 'duplicate'
      if (gap) {
        await tx`delete from agent_gap where agent_id = ${agentId} and first_sequence = ${gap.firstSequence}`
        for (const part of withoutSequence(gap, sequence)) await addGap(part)
      }
      await tx`
        insert into agent_event (agent_id, event_id, sequence, notification_id, body, source, stored_at)
        values (${agentId}, ${eventId}, ${sequence}, ${notificationId}, ${body}, ${source}, ${storedAt})`
      return 'new'
    },

    /** Notes the sequence numbers that a page skips. */
    async noteGaps(first: number, last: number, about: Pick<Gap, 'reason' | 'noticedAt'>): Promise<Gap[]> {
      const rows = await tx<EventRow[]>`
        select sequence from agent_event
        where agent_id = ${agentId} and sequence between ${first} and ${last} order by sequence`
      const present = rows.map(({ sequence }) => sequence)
      const gaps = missingRanges(first, last, present).map((range): Gap => ({ ...range, ...about }))
      for (const gap of gaps) await addGap(gap)
      return gaps
    },

    /** The last number without a hole, for an update of the stream: every one is stored or known to be missing. */
    contiguous: fragment`(
      with recursive reached(mark) as (
        select agent_stream.contiguous
        union all
        select next.mark from reached, lateral (
          select last_sequence as mark from agent_gap
            where agent_id = ${agentId} and first_sequence <= reached.mark + 1
              and last_sequence >= reached.mark + 1
          union all
          select sequence from agent_event where agent_id = ${agentId} and sequence = reached.mark + 1
          limit 1) as next)
      select max(mark) from reached)`,

    /** Null if none of them is stored. */
    highestOf: (eventIds: readonly string[]) => fragment`(
      select max(sequence) from agent_event where agent_id = ${agentId} and event_id = any(${eventIds}::text[]))`,

    async setMark(eventIds: readonly string[], mark: number): Promise<void> {
      await tx`
        update agent_event set acknowledge_mark = ${mark}
        where agent_id = ${agentId} and event_id = any(${eventIds}::text[])`
    },

    async countAttempt(eventId: string, by: 1 | -1): Promise<void> {
      await tx`
        update agent_event set attempts = greatest(attempts + ${by}::integer, 0)
        where agent_id = ${agentId} and event_id = ${eventId}`
    },

    /** How often the handler was called; undefined if the event is not pending. */
    async attemptsOf(eventId: string): Promise<number | undefined> {
      const [row] = await tx<EventRow[]>`
        select attempts from agent_event
        where agent_id = ${agentId} and event_id = ${eventId} and ${isIn('pending')}`
      return row?.attempts
    },

    /** False if the event is not in the state from which it changes. */
    async move(
      eventId: string,
      [from, to]: readonly [InboxEvent['state'], InboxEvent['state']],
      end: { readonly at: string | null; readonly reason: string | null },
    ): Promise<boolean> {
      const { count } = await tx`
        update agent_event set state = ${to}, finished_at = ${end.at}, reason = ${end.reason},
          attempts = case when ${to} = 'pending' then 0 else attempts end
        where agent_id = ${agentId} and event_id = ${eventId} and ${isIn(from)}`
      return count > 0
    },

    async acknowledge(eventIds: readonly string[], at: string): Promise<void> {
      await tx`
        update agent_event set acknowledged_at = ${at}
        where agent_id = ${agentId} and event_id = any(${eventIds}::text[])`
    },

    async prune(finishedBefore: string, through: number, limit: number): Promise<number[]> {
      const rows = await tx<EventRow[]>`
        delete from agent_event where agent_id = ${agentId} and event_id in (
          select event_id from agent_event
          where agent_id = ${agentId} and state = 'processed' and finished_at < ${finishedBefore}
            and sequence <= ${through} and (acknowledge_mark is null or acknowledged_at is not null)
          order by sequence limit ${limit})
        returning sequence`
      return rows.map(({ sequence }) => sequence)
    },
  }
}

export async function listGaps(db: Queries, agentId: string): Promise<Gap[]> {
  const rows = await db<GapRow[]>`
    select first_sequence, last_sequence, reason, noticed_at from agent_gap
    where agent_id = ${agentId} order by first_sequence`
  return rows.map(toGap)
}

/** The sequence of an event in its stream. */
export const sequenceOf = (agentId: string, eventId: string) => fragment`(
  select sequence from agent_event where agent_id = ${agentId} and event_id = ${eventId})`

/** Rows that one statement inserts. */
const ROWS_A_STEP = 200

/** Events and gaps of an agent that moves in, as they are. Returns how many events. */
export async function insertEvents(
  tx: Transaction,
  agentId: string,
  { events, gaps }: Pick<InboxContents, 'events' | 'gaps'>,
): Promise<number> {
  let inserted = 0
  for (const rows of inSteps(events, ROWS_A_STEP)) {
    const { count } = await tx`
      insert into agent_event (agent_id, event_id, sequence, notification_id, body, source, stored_at, state, attempts,
        reason, finished_at, acknowledge_mark, acknowledged_at)
      select ${agentId}, row.* from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
        event_id text, sequence bigint, notification_id text, body text, source text, stored_at text, state text,
        attempts integer, reason text, finished_at text, acknowledge_mark bigint, acknowledged_at text)`
    inserted += count
  }
  for (const gap of gaps)
    await tx`
      insert into agent_gap (agent_id, first_sequence, last_sequence, reason, noticed_at)
      values (${agentId}, ${gap.first_sequence}, ${gap.last_sequence}, ${gap.reason}, ${gap.noticed_at})`
  return inserted
}

export function* inSteps<T>(all: Iterable<T>, size: number): Iterable<T[]> {
  let step: T[] = []
  for (const each of all) {
    step.push(each)
    if (step.length < size) continue
    yield step
    step = []
  }
  if (step.length > 0) yield step
}
