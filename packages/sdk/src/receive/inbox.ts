/** Origin of an event: a webhook is authenticated by its signature, a poll by TLS and the access token. */
export type EventSource = 'webhook' | 'poll'

/**
 * `pending` waits for processing, `processed` had its effect, `set_aside` failed too often and waits for a decision.
 */
export type EventState = 'pending' | 'processed' | 'set_aside'

export type ListOrder = 'oldest' | 'newest'

/** A notification for the inbox. */
export interface IncomingEvent {
  readonly eventId: string
  readonly notificationId: string
  readonly sequence: number
  /** RFC 8785 of the envelope, so that webhook and poll give the same text. */
  readonly body: string
}

export interface InboxEvent extends IncomingEvent {
  readonly source: EventSource
  readonly storedAt: string
  readonly state: EventState
  /** Started calls of the handler. */
  readonly attempts: number
  /** Why it was set aside. */
  readonly reason?: string
  /** When it was processed or set aside. */
  readonly finishedAt?: string
}

/** `conflict`: another event has the id or the sequence. Nothing was changed. */
export type StoreOutcome = 'new' | 'duplicate' | 'conflict'

/**
 * Why sequence numbers are permanently missing. `before_first_poll`: expired before the first poll of this inbox;
 * `expired`: expired before they were read; `absent`: the stream skips them.
 */
export type GapReason = 'before_first_poll' | 'expired' | 'absent'

/** Sequence numbers that the exchange no longer has. */
export interface Gap {
  readonly firstSequence: number
  readonly lastSequence: number
  readonly reason: GapReason
  readonly noticedAt: string
}

export interface PageToStore {
  /** In ascending sequence, without a gap between the request's cursor and the last item. */
  readonly events: readonly IncomingEvent[]
  readonly nextCursor: string
  readonly storedAt: string
  /** Meaning of a gap in this page. */
  readonly gapReason: GapReason
}

export interface PageStored {
  readonly stored: number
  readonly conflicts: readonly IncomingEvent[]
  readonly gaps: readonly Gap[]
}

/** Progress of reading and processing. */
export interface InboxPosition {
  /** Cursor of the last stored page. */
  readonly cursor: string | undefined
  /** Polling has read the stream up to this sequence. */
  readonly polledThrough: number
  /** Up to this sequence, every event is stored or known to be missing. */
  readonly lastContiguousSequence: number
  /** The highest stored sequence. */
  readonly highestSequence: number
  readonly pending: number
  readonly setAside: number
}

export interface PendingAcknowledgement {
  readonly eventId: string
  readonly notificationId: string
  readonly storedAt: string
  /** The position when the event was stored, so that a retried acknowledgement is identical. */
  readonly lastContiguousSequence: number
}

/** The stream of an inbox. Sequences of two streams must not mix. */
export interface StreamName {
  readonly exchange: string
  readonly organizationId: string
}

/** The right of one receiver to call its handler for an event. */
export interface Lease {
  /** Unique for each receiver. */
  readonly holder: string
  readonly now: string
  /** After this time another receiver may take the event over, even if the holder is alive. */
  readonly until: string
}

/** The number of the call, or who handles the event. Undefined if the event is not pending any more. */
export type BegunAttempt = { readonly attempt: number } | { readonly heldBy: string } | undefined

/**
 * The handler's change of its own data, in the transaction that marks the event as processed. Whether it may be
 * asynchronous depends on the inbox: a transaction of SQLite cannot wait.
 */
export type Effect<Transaction> = (transaction: Transaction) => void | Promise<void>

/**
 * The durable inbox: stores each `event_id` and sequence once, and a cursor together with its page. A failure is an
 * `ExchangeError` with code `inbox_unavailable`.
 */
export interface Inbox<Transaction = unknown> {
  /** Binds the inbox to this stream. Refuses if it is bound to another. */
  bind(stream: StreamName): Promise<void>

  /** Durable when it returns. */
  store(event: IncomingEvent, source: EventSource, storedAt: string): Promise<StoreOutcome>
  /** Stores the events of a page and its cursor atomically. */
  storePage(page: PageToStore): Promise<PageStored>
  /** Restarts reading at the earliest retained event. */
  dropCursor(): Promise<void>
  position(): Promise<InboxPosition>
  gaps(): Promise<readonly Gap[]>

  /** The pending event with the lowest sequence, if no earlier event is missing. */
  next(): Promise<InboxEvent | undefined>
  /**
   * Takes the lease of the event and counts a call of the handler before it starts, so that a crash is counted too. The
   * lease of a process that ended is free.
   */
  beginAttempt(eventId: string, lease: Lease): Promise<BegunAttempt>
  /** Reverts the count of a call that we interrupted. */
  cancelAttempt(eventId: string): Promise<void>
  /** Ends the lease of this holder, if it has one. */
  endLease(holder: string): Promise<void>
  /**
   * Marks the event and its subject as processed, ends its lease and runs the effect, atomically. False, without effect,
   * if the event was not pending.
   */
  finish(
    eventId: string,
    finishedAt: string,
    effect?: Effect<Transaction>,
    subject?: string,
  ): Promise<boolean>
  /** Whether an event with this subject was processed. Subjects are never pruned. */
  hasFinished(subject: string): Promise<boolean>
  setAside(eventId: string, finishedAt: string, reason: string): Promise<void>
  /** Makes a set-aside event pending again. False if there is none. */
  retry(eventId: string): Promise<boolean>
  /** Up to a limit, in ascending sequence, or with `newest` in descending sequence. */
  list(state: EventState, limit: number, order?: ListOrder): Promise<readonly InboxEvent[]>

  /** Polled events that are not acknowledged yet. */
  unacknowledged(limit: number): Promise<readonly PendingAcknowledgement[]>
  markAcknowledged(eventIds: readonly string[], at: string): Promise<void>

  /** Removes old processed events that polling has passed, and remembers their ids as known. Returns their number. */
  prune(finishedBefore: string, limit: number): Promise<number>

  /** Small values of the stream, such as pinned keys. */
  readValue(name: string): Promise<string | undefined>
  writeValue(name: string, value: string): Promise<void>
  close(): Promise<void>
}
