import { ExchangeError } from '../errors.ts'
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
} from './inbox.ts'
import { foreignInbox, runEffect } from './inbox-rules.ts'
import { FIXED_LIMITS } from './receive-limits.ts'
import { covers, missingRanges, withoutSequence } from './sequence-ranges.ts'

type Row = { -readonly [Name in keyof InboxEvent]: InboxEvent[Name] } & {
  acknowledgeMark?: number
  acknowledgedAt?: string
}

/**
 * An inbox in memory: for tests and trials, and for agents that may read the stream from its beginning after each start.
 *
 * @example
 * const receiver = createReceiver(context, { inbox: new MemoryInbox(), handle })
 */
export class MemoryInbox implements Inbox<undefined> {
  readonly #events = new Map<string, Row>()
  readonly #sequences = new Map<number, Row>()
  readonly #pending = new Set<Row>()
  readonly #finishedSubjects = new Set<string>()
  readonly #values = new Map<string, string>()
  #gaps: Gap[] = []
  #lease: (Lease & { readonly eventId: string }) | undefined
  #stream: string | undefined
  #cursor: string | undefined
  #polledThrough = 0
  #contiguous = 0
  #highest = 0
  #prunedThrough = -1

  async bind({ exchange, organizationId }: StreamName): Promise<void> {
    const stream = `${organizationId} ${exchange}`
    this.#stream ??= stream
    if (this.#stream !== stream) throw foreignInbox(this.#stream)
  }

  async store(event: IncomingEvent, source: EventSource, storedAt: string): Promise<StoreOutcome> {
    const outcome = this.#insert(event, source, storedAt)
    this.#advance()
    return outcome
  }

  async storePage({ events, nextCursor, storedAt, gapReason }: PageToStore): Promise<PageStored> {
    const outcomes = events.map((event) => this.#insert(event, 'poll', storedAt))
    const last = events.at(-1)?.sequence ?? this.#polledThrough
    const present = [...this.#sequences.keys()].toSorted((a, b) => a - b)
    const gaps = missingRanges(this.#polledThrough + 1, last, present).map((range) => ({
      ...range,
      reason: gapReason,
      noticedAt: storedAt,
    }))
    this.#gaps.push(...gaps)
    if (last >= this.#polledThrough) {
      this.#polledThrough = last
      this.#cursor = nextCursor
    }
    this.#advance()
    events.forEach(({ eventId }, i) => {
      const row = this.#events.get(eventId)
      if (outcomes[i] === 'new' && row) row.acknowledgeMark = this.#contiguous
    })
    const stored = outcomes.filter((outcome) => outcome === 'new').length
    return { stored, gaps, conflicts: events.filter((_, i) => outcomes[i] === 'conflict') }
  }

  async dropCursor(): Promise<void> {
    this.#cursor = undefined
  }

  async position(): Promise<InboxPosition> {
    return {
      cursor: this.#cursor,
      polledThrough: this.#polledThrough,
      lastContiguousSequence: this.#contiguous,
      highestSequence: this.#highest,
      pending: this.#pending.size,
      setAside: this.#inState('set_aside').length,
    }
  }

  async gaps(): Promise<readonly Gap[]> {
    return this.#gaps.toSorted((a, b) => a.firstSequence - b.firstSequence)
  }

  async next(): Promise<InboxEvent | undefined> {
    let first: Row | undefined
    for (const row of this.#pending) {
      if (row.sequence <= this.#contiguous && row.sequence < (first?.sequence ?? Infinity)) first = row
    }
    return first && { ...first }
  }

  async beginAttempt(eventId: string, lease: Lease): Promise<BegunAttempt> {
    const row = this.#events.get(eventId)
    if (row?.state !== 'pending') return undefined
    if (this.#lease && this.#lease.holder !== lease.holder && lease.now < this.#lease.until)
      return { heldBy: 'another receiver of this process' }
    this.#lease = { ...lease, eventId }
    return { attempt: ++row.attempts }
  }

  async cancelAttempt(eventId: string): Promise<void> {
    const row = this.#events.get(eventId)
    if (row && row.attempts > 0) row.attempts--
  }

  async endLease(holder: string): Promise<void> {
    if (this.#lease?.holder === holder) this.#lease = undefined
  }

  async finish(
    eventId: string,
    finishedAt: string,
    effect?: Effect<undefined>,
    subject?: string,
  ): Promise<boolean> {
    const row = this.#events.get(eventId)
    if (row?.state !== 'pending') return false
    runEffect(effect, undefined)
    if (subject !== undefined) this.#finishedSubjects.add(subject)
    this.#settle(row)
    Object.assign(row, { state: 'processed', finishedAt })
    return true
  }

  async hasFinished(subject: string): Promise<boolean> {
    return this.#finishedSubjects.has(subject)
  }

  async setAside(eventId: string, finishedAt: string, reason: string): Promise<void> {
    const row = this.#events.get(eventId)
    if (row?.state !== 'pending') return
    this.#settle(row)
    Object.assign(row, { state: 'set_aside', finishedAt, reason })
  }

  async retry(eventId: string): Promise<boolean> {
    const row = this.#events.get(eventId)
    if (row?.state !== 'set_aside') return false
    delete row.reason
    delete row.finishedAt
    this.#pending.add(Object.assign(row, { state: 'pending' as const, attempts: 0 }))
    return true
  }

  async list(state: EventState, limit: number, order: ListOrder = 'oldest'): Promise<readonly InboxEvent[]> {
    const found = this.#inState(state)
    return (order === 'oldest' ? found : found.toReversed()).slice(0, limit).map((row) => ({ ...row }))
  }

  async unacknowledged(limit: number): Promise<readonly PendingAcknowledgement[]> {
    const open: PendingAcknowledgement[] = []
    for (const { eventId, notificationId, storedAt, acknowledgeMark, acknowledgedAt } of this.#rows()) {
      if (acknowledgeMark === undefined || acknowledgedAt !== undefined) continue
      open.push({ eventId, notificationId, storedAt, lastContiguousSequence: acknowledgeMark })
    }
    return open.slice(0, limit)
  }

  async markAcknowledged(eventIds: readonly string[], at: string): Promise<void> {
    for (const eventId of eventIds) {
      const row = this.#events.get(eventId)
      if (row) row.acknowledgedAt = at
    }
  }

  async prune(finishedBefore: string, limit: number): Promise<number> {
    const old = this.#inState('processed').filter(
      ({ finishedAt = '', sequence, acknowledgeMark, acknowledgedAt }) =>
        finishedAt < finishedBefore &&
        // An event that polling has not passed yet would look like a gap.
        sequence <= this.#polledThrough &&
        (acknowledgeMark === undefined || acknowledgedAt !== undefined),
    )
    for (const { eventId, sequence } of old.slice(0, limit)) {
      this.#events.delete(eventId)
      this.#sequences.delete(sequence)
      this.#prunedThrough = Math.max(this.#prunedThrough, sequence)
    }
    return Math.min(old.length, limit)
  }

  async readValue(name: string): Promise<string | undefined> {
    return this.#values.get(name)
  }

  async writeValue(name: string, value: string): Promise<void> {
    this.#values.set(name, value)
  }

  async close(): Promise<void> {}

  #settle(row: Row): void {
    this.#pending.delete(row)
    if (this.#lease?.eventId === row.eventId) this.#lease = undefined
  }

  #rows(): Row[] {
    return [...this.#events.values()].toSorted((a, b) => a.sequence - b.sequence)
  }

  #inState(state: EventState): Row[] {
    return this.#rows().filter((row) => row.state === state)
  }

  #insert(event: IncomingEvent, source: EventSource, storedAt: string): StoreOutcome {
    const known = this.#events.get(event.eventId)
    if (known) return known.body === event.body ? 'duplicate' : 'conflict'
    if (this.#sequences.has(event.sequence)) return 'conflict'
    const gap = this.#gaps.find((each) => covers(each, event.sequence))
    // Below the highest removed sequence, not stored and no gap: processed and pruned.
    if (!gap && event.sequence <= this.#prunedThrough) return 'duplicate'
    if (this.#events.size >= FIXED_LIMITS.memoryEvents) {
      throw new ExchangeError('inbox_unavailable', { what: 'The inbox in memory is full.', retryable: true })
    }
    if (gap) this.#gaps = this.#gaps.flatMap((g) => (g === gap ? withoutSequence(g, event.sequence) : [g]))
    const row: Row = { ...event, source, storedAt, state: 'pending', attempts: 0 }
    this.#events.set(event.eventId, row)
    this.#sequences.set(event.sequence, row)
    this.#pending.add(row)
    this.#highest = Math.max(this.#highest, event.sequence)
    return 'new'
  }

  #advance(): void {
    for (;;) {
      const next = this.#contiguous + 1
      const gap = this.#gaps.find((each) => covers(each, next))
      if (gap) this.#contiguous = gap.lastSequence
      else if (this.#sequences.has(next)) this.#contiguous = next
      else return
    }
  }
}
