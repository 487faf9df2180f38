import {
  deferToCommit,
  fragment,
  isUnavailable,
  loggableError,
  type Database,
  type Transaction,
} from '@agent-exchange/database'
import {
  ExchangeError,
  type Inbox,
  type PendingAcknowledgement,
  type StoreOutcome,
} from '@agent-exchange/sdk'
import { foreignInbox } from '@agent-exchange/sdk/internal'
import type { InboxContents } from '@agent-exchange/sdk/internal/node'
import {
  eventRows,
  inSteps,
  insertEvents,
  listGaps,
  toEvent,
  type EventRow,
  type StreamRow,
} from './event-rows.ts'

export interface InboxOptions {
  /** True while no other instance handles events of this agent: then a lease of another holder is that of a dead one. */
  readonly isAlone?: () => boolean
}

/** Tells the instance that handles events which agent has a new one. */
export const EVENT_CHANNEL = 'gateway_event'

const COLUMNS = fragment`event_id, sequence, notification_id, body, source, stored_at, state, attempts, reason, finished_at`

/**
 * The durable inbox of one agent. Every change runs in one transaction under the lock of the agent's stream row, so
 * that any instance may store a webhook while another one polls and handles.
 */
export function openPostgresInbox(
  db: Database,
  agentId: string,
  { isAlone = () => false }: InboxOptions = {},
): Inbox<Transaction> {
  type Rows = ReturnType<typeof eventRows>
  /** What `read` asks for is sent together with the lock, and so read under it. */
  const readAndChange = <Found, T>(
    read: (tx: Transaction, rows: Rows) => Promise<Found>,
    work: (tx: Transaction, rows: Rows, locked: { stream: StreamRow; found: Found }) => Promise<T>,
  ) =>
    orUnavailable(
      db.begin(async (tx) => {
        const rows = eventRows(tx, agentId)
        const [stream, found] = await Promise.all([lockStream(tx, agentId), read(tx, rows)])
        return work(tx, rows, { stream, found })
      }),
    )
  const change = <T>(work: (tx: Transaction, rows: Rows, stream: StreamRow) => Promise<T>) =>
    readAndChange(
      async () => undefined,
      (tx, rows, { stream }) => work(tx, rows, stream),
    )

  const clearLease = (tx: Transaction, eventId: string) => tx`
    update agent_stream set lease_event_id = null, lease_holder = null, lease_until = null
    where agent_id = ${agentId} and lease_event_id = ${eventId}`

  const announce = (tx: Transaction) => tx`select pg_notify(${EVENT_CHANNEL}, ${agentId})`

  const read = () => orUnavailable(readStream(db, agentId))

  return {
    bind: ({ exchange, organizationId }) =>
      change(async (tx, _, { stream }) => {
        const name = `${organizationId} ${exchange}`
        if (stream !== null && stream !== name) throw foreignInbox(stream)
        await tx`update agent_stream set stream = ${name} where agent_id = ${agentId}`
      }),

    async store(event, source, storedAt) {
      // One round trip for nearly every event. For the others these statements change nothing.
      const { isNew } = await orUnavailable(
        db.begin(async (tx) => {
          const rows = eventRows(tx, agentId)
          const locked = lockRow(tx, agentId)
          const inserted = rows.insertUnknown(event, { source, storedAt })
          deferToCommit(tx, locked, inserted, advance(tx, agentId, rows, [event.eventId]), announce(tx))
          return { isNew: inserted }
        }),
      )
      if (await isNew) return 'new'
      return change(async (tx, rows, stream) => {
        const outcome = await rows.insert(event, await rows.find(event), { source, storedAt, stream })
        if (outcome === 'new') deferToCommit(tx, advance(tx, agentId, rows, [event.eventId]), announce(tx))
        return outcome
      })
    },

    storePage: ({ events, nextCursor, storedAt, gapReason }) =>
      change(async (tx, rows, stream) => {
        const outcomes: StoreOutcome[] = []
        for (const event of events)
          outcomes.push(
            await rows.insert(event, await rows.find(event), { source: 'poll', storedAt, stream }),
          )
        const { polled_through: polled } = stream
        const last = events.at(-1)?.sequence ?? polled
        const gaps = await rows.noteGaps(polled + 1, last, { reason: gapReason, noticedAt: storedAt })
        if (last >= polled)
          await tx`
            update agent_stream set polled_through = ${last}, cursor = ${nextCursor}
            where agent_id = ${agentId}`
        const added = events.filter((_, index) => outcomes[index] === 'new').map(({ eventId }) => eventId)
        const mark = await advance(tx, agentId, rows, added)
        await rows.setMark(added, mark)
        const conflicts = events.filter((_, index) => outcomes[index] === 'conflict')
        return { stored: added.length, gaps, conflicts }
      }),

    dropCursor: () =>
      change(
        async (tx) => void (await tx`update agent_stream set cursor = null where agent_id = ${agentId}`),
      ),

    async position() {
      const stream = await read()
      const [counts] = await orUnavailable(
        db<{ pending: number; aside: number }[]>`
          select count(*) filter (where state = 'pending')::integer as pending,
            count(*) filter (where state = 'set_aside')::integer as aside
          from agent_event where agent_id = ${agentId} and state in ('pending', 'set_aside')`,
      )
      return {
        cursor: stream?.cursor ?? undefined,
        polledThrough: stream?.polled_through ?? 0,
        lastContiguousSequence: stream?.contiguous ?? 0,
        highestSequence: stream?.highest ?? 0,
        pending: counts?.pending ?? 0,
        setAside: counts?.aside ?? 0,
      }
    },

    gaps: () => orUnavailable(listGaps(db, agentId)),

    async next() {
      const [row] = await orUnavailable(
        db<EventRow[]>`
          select ${COLUMNS} from agent_event
          where agent_id = ${agentId} and state = 'pending' and sequence <= (
            select contiguous from agent_stream where agent_id = ${agentId})
          order by sequence limit 1`,
      )
      return row && toEvent(row)
    },

    beginAttempt: (eventId, { holder, now, until }) =>
      readAndChange(
        (_, rows) => rows.attemptsOf(eventId),
        async (tx, rows, { stream, found: attempts }) => {
          if (attempts === undefined) return undefined
          const { lease_holder: heldBy, lease_until: ends } = stream
          const isForeign = heldBy !== null && heldBy !== holder && ends !== null && now < ends
          if (isForeign && !isAlone()) return { heldBy: 'another instance' }
          deferToCommit(
            tx,
            tx`
              update agent_stream set lease_event_id = ${eventId}, lease_holder = ${holder}, lease_until = ${until}
              where agent_id = ${agentId}`,
            rows.countAttempt(eventId, 1),
          )
          return { attempt: attempts + 1 }
        },
      ),

    cancelAttempt: (eventId) => change((_, rows) => rows.countAttempt(eventId, -1)),

    async endLease(holder) {
      await orUnavailable(
        db`
          update agent_stream set lease_event_id = null, lease_holder = null, lease_until = null
          where agent_id = ${agentId} and lease_holder = ${holder}`,
      )
    },

    async finish(eventId, finishedAt, effect, subject) {
      // An exception of the effect is a failure of the handler, and is rethrown unchanged.
      let failure: { readonly error: unknown } | undefined
      try {
        return await readAndChange(
          (_, rows) => rows.move(eventId, ['pending', 'processed'], { at: finishedAt, reason: null }),
          async (tx, _, { found: isMoved }) => {
            if (!isMoved) return false
            deferToCommit(tx, clearLease(tx, eventId))
            if (subject !== undefined)
              deferToCommit(
                tx,
                tx`
                  insert into agent_finished_subject (agent_id, subject) values (${agentId}, ${subject})
                  on conflict do nothing`,
              )
            try {
              await effect?.(tx)
            } catch (error) {
              if (!isUnavailable(error)) failure = { error }
              throw error
            }
            return true
          },
        )
      } catch (error) {
        throw failure ? failure.error : error
      }
    },

    async hasFinished(subject) {
      const rows = await orUnavailable(
        db`select 1 as one from agent_finished_subject where agent_id = ${agentId} and subject = ${subject}`,
      )
      return rows.length > 0
    },

    setAside: (eventId, at, reason) =>
      change(async (tx, rows) => {
        if (await rows.move(eventId, ['pending', 'set_aside'], { at, reason })) await clearLease(tx, eventId)
      }),

    retry: (eventId) =>
      change(async (tx, rows) => {
        const isMoved = await rows.move(eventId, ['set_aside', 'pending'], { at: null, reason: null })
        if (isMoved) await announce(tx)
        return isMoved
      }),

    async list(state, limit, order = 'oldest') {
      const direction = order === 'oldest' ? fragment`asc` : fragment`desc`
      const rows = await orUnavailable(
        db<EventRow[]>`
          select ${COLUMNS} from agent_event where agent_id = ${agentId} and state = ${state}
          order by sequence ${direction} limit ${limit}`,
      )
      return rows.map(toEvent)
    },

    async unacknowledged(limit) {
      const rows = await orUnavailable(
        db<{ event_id: string; notification_id: string; stored_at: string; mark: number }[]>`
          select event_id, notification_id, stored_at, acknowledge_mark as mark from agent_event
          where agent_id = ${agentId} and acknowledge_mark is not null and acknowledged_at is null
          order by sequence limit ${limit}`,
      )
      return rows.map((row): PendingAcknowledgement => ({
        eventId: row.event_id,
        notificationId: row.notification_id,
        storedAt: row.stored_at,
        lastContiguousSequence: row.mark,
      }))
    },

    markAcknowledged: (eventIds, at) => change((_, rows) => rows.acknowledge(eventIds, at)),

    prune: (finishedBefore, limit) =>
      change(async (tx, rows, stream) => {
        // An event that polling has not passed yet would look like a gap.
        const removed = await rows.prune(finishedBefore, stream.polled_through, limit)
        const highest = Math.max(stream.pruned_through, ...removed)
        await tx`update agent_stream set pruned_through = ${highest} where agent_id = ${agentId}`
        return removed.length
      }),

    async readValue(name) {
      const [row] = await orUnavailable(
        db<{ value: string }[]>`
          select value from agent_stream_value where agent_id = ${agentId} and name = ${name}`,
      )
      return row?.value
    },
    writeValue: (name, value) =>
      change(
        async (tx) =>
          void (await tx`
            insert into agent_stream_value (agent_id, name, value) values (${agentId}, ${name}, ${value})
            on conflict (agent_id, name) do update set value = excluded.value`),
      ),
    close: async () => undefined,
  }
}

/** Subjects that one statement inserts. */
const SUBJECTS_A_STEP = 1_000

/** The inbox of an agent that moves in: its stream, events, gaps and what was handled. Nobody has its lease. */
export async function insertInbox(tx: Transaction, agentId: string, inbox: InboxContents): Promise<number> {
  const { stream = null, cursor = null, polledThrough, contiguous, highest, prunedThrough } = inbox
  await tx`
    insert into agent_stream (agent_id, stream, cursor, polled_through, contiguous, highest, pruned_through)
    values (${agentId}, ${stream}, ${cursor}, ${polledThrough}, ${contiguous}, ${highest}, ${prunedThrough})`
  const events = await insertEvents(tx, agentId, inbox)
  for (const subjects of inSteps(inbox.subjects, SUBJECTS_A_STEP))
    await tx`
      insert into agent_finished_subject (agent_id, subject) select ${agentId}, unnest(${subjects}::text[])`
  for (const { name, value } of inbox.values)
    await tx`
      insert into agent_stream_value (agent_id, name, value) values (${agentId}, ${name}, ${value})`
  return events
}

async function readStream(db: Database, agentId: string): Promise<StreamRow | undefined> {
  const [row] = await db<StreamRow[]>`select * from agent_stream where agent_id = ${agentId}`
  return row
}

const lockRow = (tx: Transaction, agentId: string) =>
  tx<StreamRow[]>`select * from agent_stream where agent_id = ${agentId} for update`

async function lockStream(tx: Transaction, agentId: string): Promise<StreamRow> {
  let [row] = await lockRow(tx, agentId)
  if (!row) {
    await tx`insert into agent_stream (agent_id) values (${agentId}) on conflict do nothing`
    ;[row] = await lockRow(tx, agentId)
  }
  if (!row) throw new Error('the stream of an agent has no row')
  return row
}

/** Moves the marks of the stream over these events and what is stored or gone, and returns the last one without a hole. */
async function advance(
  tx: Transaction,
  agentId: string,
  rows: ReturnType<typeof eventRows>,
  eventIds: readonly string[],
): Promise<number> {
  const [row] = await tx<{ mark: number }[]>`
    update agent_stream set contiguous = ${rows.contiguous}, highest = greatest(highest, ${rows.highestOf(eventIds)})
    where agent_id = ${agentId} returning contiguous as mark`
  return row?.mark ?? 0
}

async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ExchangeError) throw error
    throw new ExchangeError('inbox_unavailable', { cause: loggableError(error), retryable: true })
  }
}
