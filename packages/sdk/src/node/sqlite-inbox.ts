import type { DatabaseSync } from 'node:sqlite'
import type {
  BegunAttempt,
  Effect,
  EventSource,
  EventState,
  Gap,
  Inbox,
  InboxEvent,
  InboxPosition,
  IncomingEvent,
  Lease,
  PageStored,
  PageToStore,
  PendingAcknowledgement,
  StoreOutcome,
  StreamName,
  ListOrder,
} from '../receive/inbox.ts'
import { foreignInbox, runEffect } from '../receive/inbox-rules.ts'
import { missingRanges, withoutSequence } from '../receive/sequence-ranges.ts'
import { IN_MEMORY, InboxFile } from './sqlite-inbox-file.ts'
import { InboxLease } from './sqlite-inbox-lease.ts'
import { EVENT_COLUMNS, type EventRow, type GapRow, toEvent, toGap } from './sqlite-inbox-rows.ts'

/**
 * Opens or creates the inbox in an SQLite file. Stored events survive kill -9 and a power failure: every commit is on
 * disk before it returns.
 *
 * @example
 * await using inbox = openSqliteInbox('./agent/inbox.db')
 * inbox.database.exec('create table if not exists orders (package_id text primary key)')
 */
export function openSqliteInbox(file: string): SqliteInbox {
  return new SqliteInbox(file)
}

/** See {@link openSqliteInbox}. An effect gets the database, in the transaction that marks its event. */
export class SqliteInbox implements Inbox<DatabaseSync>, AsyncDisposable {
  readonly #file: InboxFile
  readonly #lease: InboxLease

  constructor(file: string) {
    this.#file = new InboxFile(file)
    this.#lease = new InboxLease(this.#file, file === IN_MEMORY ? undefined : `${file}-lease`)
  }

  /** For tables of the application. Tables that begin with `aex_` belong to the inbox. */
  get database(): DatabaseSync {
    return this.#file.database
  }

  bind({ exchange, organizationId }: StreamName): Promise<void> {
    return this.#file.change(() => {
      const stream = `${organizationId} ${exchange}`
      const bound = this.#file.value('stream')
      if (bound === undefined) this.#file.setValue('stream', stream)
      else if (bound !== stream) throw foreignInbox(bound)
    })
  }

  store(event: IncomingEvent, source: EventSource, storedAt: string): Promise<StoreOutcome> {
    return this.#file.change(() => {
      const outcome = this.#insert(event, source, storedAt)
      if (outcome === 'new') this.#advance()
      return outcome
    })
  }

  storePage({ events, nextCursor, storedAt, gapReason }: PageToStore): Promise<PageStored> {
    return this.#file.change(() => {
      const outcomes = events.map((event) => this.#insert(event, 'poll', storedAt))
      const polledThrough = this.#file.number('polled_through')
      const last = events.at(-1)?.sequence ?? polledThrough
      const gaps = this.#missing(polledThrough + 1, last).map((range): Gap => ({
        ...range,
        reason: gapReason,
        noticedAt: storedAt,
      }))
      for (const gap of gaps) this.#addGap(gap)
      if (last >= polledThrough) {
        this.#file.setValue('polled_through', last)
        this.#file.setValue('cursor', nextCursor)
      }
      const mark = this.#advance()
      const added = events.filter((_, i) => outcomes[i] === 'new')
      for (const { eventId } of added) {
        this.#file.run('update aex_event set acknowledge_mark = ? where event_id = ?', mark, eventId)
      }
      return { stored: added.length, gaps, conflicts: events.filter((_, i) => outcomes[i] === 'conflict') }
    })
  }

  dropCursor(): Promise<void> {
    return this.#file.change(() => void this.#file.run("delete from aex_value where name = 'cursor'"))
  }

  position(): Promise<InboxPosition> {
    return this.#file.read(() => {
      const count = (state: EventState) =>
        this.#file.all<{ n: number }>('select count(*) as n from aex_event where state = ?', state)[0]?.n ?? 0
      return {
        cursor: this.#file.value('cursor'),
        polledThrough: this.#file.number('polled_through'),
        lastContiguousSequence: this.#file.number('contiguous'),
        highestSequence: this.#file.number('highest'),
        pending: count('pending'),
        setAside: count('set_aside'),
      }
    })
  }

  gaps(): Promise<readonly Gap[]> {
    return this.#file.read(() =>
      this.#file.all<GapRow>('select * from aex_gap order by first_sequence').map(toGap),
    )
  }

  next(): Promise<InboxEvent | undefined> {
    return this.#file.read(() => {
      const [row] = this.#file.all<EventRow>(
        `select ${EVENT_COLUMNS} from aex_event where state = 'pending' and sequence <= ?
         order by sequence limit 1`,
        this.#file.number('contiguous'),
      )
      return row && toEvent(row)
    })
  }

  beginAttempt(eventId: string, lease: Lease): Promise<BegunAttempt> {
    const isPending = `select 1 from aex_event where event_id = ? and state = 'pending'`
    const counted = 'update aex_event set attempts = attempts + 1 where event_id = ? returning attempts'
    return this.#file.change(() => {
      if (this.#file.all(isPending, eventId).length === 0) return undefined
      const heldBy = this.#lease.take(eventId, lease)
      if (heldBy !== undefined) return { heldBy }
      return { attempt: this.#file.all<{ attempts: number }>(counted, eventId)[0]?.attempts ?? 1 }
    })
  }

  cancelAttempt(eventId: string): Promise<void> {
    return this.#file.change(
      () =>
        void this.#file.run(
          'update aex_event set attempts = max(attempts - 1, 0) where event_id = ?',
          eventId,
        ),
    )
  }

  endLease(holder: string): Promise<void> {
    return this.#lease.end(holder)
  }

  async finish(
    eventId: string,
    finishedAt: string,
    effect?: Effect<DatabaseSync>,
    subject?: string,
  ): Promise<boolean> {
    const sql = `update aex_event set state = 'processed', finished_at = ?
                 where event_id = ? and state = 'pending'`
    // An exception of the effect is a failure of the handler, and is rethrown unchanged.
    let failure: { readonly error: unknown } | undefined
    const work = () => {
      if (this.#file.run(sql, finishedAt, eventId) === 0) return false
      this.#lease.clearFor(eventId)
      if (subject !== undefined)
        this.#file.run('insert or ignore into aex_finished_subject (subject) values (?)', subject)
      try {
        runEffect(effect, this.database)
      } catch (error) {
        failure = { error }
        throw error
      }
      return true
    }
    return this.#file.change(work).catch((error: unknown) => {
      throw failure ? failure.error : error
    })
  }

  hasFinished(subject: string): Promise<boolean> {
    const sql = 'select 1 from aex_finished_subject where subject = ?'
    return this.#file.read(() => this.#file.all(sql, subject).length > 0)
  }

  setAside(eventId: string, finishedAt: string, reason: string): Promise<void> {
    const sql = `update aex_event set state = 'set_aside', finished_at = ?, reason = ?
                 where event_id = ? and state = 'pending'`
    return this.#file.change(() => {
      if (this.#file.run(sql, finishedAt, reason, eventId) > 0) this.#lease.clearFor(eventId)
    })
  }

  retry(eventId: string): Promise<boolean> {
    const sql = `update aex_event set state = 'pending', finished_at = null, reason = null, attempts = 0
                 where event_id = ? and state = 'set_aside'`
    return this.#file.change(() => this.#file.run(sql, eventId) > 0)
  }

  list(state: EventState, limit: number, order: ListOrder = 'oldest'): Promise<readonly InboxEvent[]> {
    const direction = order === 'oldest' ? 'asc' : 'desc'
    const sql = `select ${EVENT_COLUMNS} from aex_event where state = ? order by sequence ${direction} limit ?`
    return this.#file.read(() => this.#file.all<EventRow>(sql, state, limit).map(toEvent))
  }

  unacknowledged(limit: number): Promise<readonly PendingAcknowledgement[]> {
    const sql = `select event_id as eventId, notification_id as notificationId, stored_at as storedAt,
                   acknowledge_mark as lastContiguousSequence
                 from aex_event where acknowledge_mark is not null and acknowledged_at is null
                 order by sequence limit ?`
    return this.#file.read(() =>
      this.#file.all<PendingAcknowledgement>(sql, limit).map((row) => ({ ...row })),
    )
  }

  markAcknowledged(eventIds: readonly string[], at: string): Promise<void> {
    return this.#file.change(() => {
      for (const eventId of eventIds) {
        this.#file.run('update aex_event set acknowledged_at = ? where event_id = ?', at, eventId)
      }
    })
  }

  prune(finishedBefore: string, limit: number): Promise<number> {
    const sql = `delete from aex_event where event_id in (
                   select event_id from aex_event where state = 'processed' and finished_at < ? and sequence <= ?
                     and (acknowledge_mark is null or acknowledged_at is not null)
                   order by sequence limit ?) returning sequence`
    return this.#file.change(() => {
      const removed = this.#file.all<{ sequence: number }>(
        sql,
        finishedBefore,
        // An event that polling has not passed yet would look like a gap.
        this.#file.number('polled_through'),
        limit,
      )
      const highest = Math.max(this.#prunedThrough(), ...removed.map(({ sequence }) => sequence))
      this.#file.setValue('pruned_through', highest)
      return removed.length
    })
  }

  readValue(name: string): Promise<string | undefined> {
    return this.#file.read(() => this.#file.value(`kept.${name}`))
  }

  writeValue(name: string, value: string): Promise<void> {
    return this.#file.change(() => this.#file.setValue(`kept.${name}`, value))
  }

  async close(): Promise<void> {
    this.#lease.unlock()
    this.#file.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #insert(event: IncomingEvent, source: EventSource, storedAt: string): StoreOutcome {
    const { eventId, sequence, notificationId, body } = event
    const [known] = this.#file.all<{ event_id: string; body: string }>(
      'select event_id, body from aex_event where event_id = ? or sequence = ? order by event_id = ? desc',
      eventId,
      sequence,
      eventId,
    )
    if (known) return known.event_id === eventId && known.body === body ? 'duplicate' : 'conflict'
    const gap = this.#gapAt(sequence)
    // Below the highest removed sequence, not stored and no gap: processed and pruned.
    if (!gap && sequence <= this.#prunedThrough()) return 'duplicate'
    if (gap) {
      this.#file.run('delete from aex_gap where first_sequence = ?', gap.firstSequence)
      for (const part of withoutSequence(gap, sequence)) this.#addGap(part)
    }
    this.#file.run(
      `insert into aex_event (event_id, sequence, notification_id, body, source, stored_at)
       values (?, ?, ?, ?, ?, ?)`,
      eventId,
      sequence,
      notificationId,
      body,
      source,
      storedAt,
    )
    if (sequence > this.#file.number('highest')) this.#file.setValue('highest', sequence)
    return 'new'
  }

  #missing(first: number, last: number) {
    const present = this.#file.all<{ sequence: number }>(
      'select sequence from aex_event where sequence between ? and ? order by sequence',
      first,
      last,
    )
    return missingRanges(
      first,
      last,
      present.map(({ sequence }) => sequence),
    )
  }

  /** Moves the mark over what is stored or gone, and returns it. */
  #advance(): number {
    const before = this.#file.number('contiguous')
    let mark = before
    for (;;) {
      const gap = this.#gapAt(mark + 1)
      if (gap) mark = gap.lastSequence
      else if (this.#file.all('select 1 from aex_event where sequence = ?', mark + 1).length > 0) mark++
      else break
    }
    if (mark !== before) this.#file.setValue('contiguous', mark)
    return mark
  }

  #gapAt(sequence: number): Gap | undefined {
    const sql = 'select * from aex_gap where first_sequence <= ? and last_sequence >= ?'
    const [row] = this.#file.all<GapRow>(sql, sequence, sequence)
    return row && toGap(row)
  }

  #addGap({ firstSequence, lastSequence, reason, noticedAt }: Gap): void {
    const sql = 'insert into aex_gap (first_sequence, last_sequence, reason, noticed_at) values (?, ?, ?, ?)'
    this.#file.run(sql, firstSequence, lastSequence, reason, noticedAt)
  }

  #prunedThrough(): number {
    return this.#file.number('pruned_through', -1)
  }
}
