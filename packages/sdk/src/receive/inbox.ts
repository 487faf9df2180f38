/** How an event came in: a webhook proves itself by its signature, a poll by TLS and the access token. */
export type EventSource = 'webhook' | 'poll'

/**
 * `pending` waits for its turn, `processed` had its effect, `set_aside` failed too often and waits for somebody
 * to look at it.
 */
export type EventState = 'pending' | 'processed' | 'set_aside'

/** A notification as it goes into an inbox. */
export interface IncomingEvent {
  readonly eventId: string
  readonly notificationId: string
  readonly sequence: number
  /** RFC 8785 of the envelope, so that the same event is the same text by webhook and by poll. */
  readonly body: string
}

export interface InboxEvent extends IncomingEvent {
  readonly source: EventSource
  readonly storedAt: string
  readonly state: EventState
  /** Calls of the handler that were begun. */
  readonly attempts: number
  /** Why it was set aside. */
  readonly reason?: string
  /** When it was processed or set aside. */
  readonly finishedAt?: string
}

/** `conflict`: the id or the sequence is taken by something else. Nothing was changed. */
export type StoreOutcome = 'new' | 'duplicate' | 'conflict'

/**
 * Why numbers are missing for good: `before_first_poll`: the stream no longer reached back when this inbox first
 * read it; `expired`: they left the stream before they were read; `absent`: the stream goes on without them.
 */
export type GapReason = 'before_first_poll' | 'expired' | 'absent'

/** Sequence numbers that the exchange cannot give any more. */
export interface Gap {
  readonly firstSequence: number
  readonly lastSequence: number
  readonly reason: GapReason
  readonly noticedAt: string
}

export interface PageToStore {
  /** In ascending sequence, without a hole between the cursor that was used and the last item. */
  readonly events: readonly IncomingEvent[]
  readonly nextCursor: string
  readonly storedAt: string
  /** What a hole in this page means. */
  readonly gapReason: GapReason
}

export interface PageStored {
  readonly stored: number
  readonly conflicts: readonly IncomingEvent[]
  readonly gaps: readonly Gap[]
}

/** Where reading and processing stand. */
export interface InboxPosition {
  /** The cursor that the last stored page returned. */
  readonly cursor: string | undefined
  /** Polling has read everything up to here. */
  readonly polledThrough: number
  /** Up to here every event is stored or known to be gone. */
  readonly lastContiguousSequence: number
  /** The highest sequence that was ever stored. */
  readonly highestSequence: number
  readonly pending: number
  readonly setAside: number
}

export interface PendingAcknowledgement {
  readonly eventId: string
  readonly notificationId: string
  readonly storedAt: string
  /** The mark as it was when the event was stored, so that a repeated acknowledgement says the same. */
  readonly lastContiguousSequence: number
}

/** The stream that an inbox belongs to; sequences of two streams must not meet in one inbox. */
export interface StreamName {
  readonly exchange: string
  readonly organizationId: string
}

/** What happens to the user's own data, in the transaction that marks the event as processed. */
export type Effect<Transaction> = (transaction: Transaction) => void

/**
 * The durable inbox: what it has taken survives, an `event_id` and a sequence are taken once, and a cursor is
 * kept together with the page it follows. Trouble is thrown as an `ExchangeError` of code `inbox_unavailable`.
 */
export interface Inbox<Transaction = unknown> {
  /** Makes the inbox one of this stream; refuses where it belongs to another. */
  bind(stream: StreamName): Promise<void>

  /** Durable when it returns. */
  store(event: IncomingEvent, source: EventSource, storedAt: string): Promise<StoreOutcome>
  /** Every event of the page and the cursor after it, all or nothing. */
  storePage(page: PageToStore): Promise<PageStored>
  /** Reading starts again at the earliest event that the exchange retains. */
  dropCursor(): Promise<void>
  position(): Promise<InboxPosition>
  gaps(): Promise<readonly Gap[]>

  /** The pending event of the lowest sequence that nothing missing comes before. */
  next(): Promise<InboxEvent | undefined>
  /** Counts a call of the handler before it is made, so that one that ends the process is counted too. */
  beginAttempt(eventId: string): Promise<number>
  /** Takes the count back: the call was broken off by us. */
  cancelAttempt(eventId: string): Promise<void>
  /** Marks as processed and runs the effect, both or neither. False, without effect, if it was not pending. */
  finish(eventId: string, finishedAt: string, effect?: Effect<Transaction>): Promise<boolean>
  setAside(eventId: string, finishedAt: string, reason: string): Promise<void>
  /** Makes an event that was set aside pending again. False if there is none. */
  retry(eventId: string): Promise<boolean>
  /** In ascending sequence, at most as many as asked for. */
  list(state: EventState, limit: number): Promise<readonly InboxEvent[]>

  /** Polled events whose storage the exchange has not been told of. */
  unacknowledged(limit: number): Promise<readonly PendingAcknowledgement[]>
  markAcknowledged(eventIds: readonly string[], at: string): Promise<void>

  /** Removes processed events that finished earlier and that polling has passed; still knows them. Returns how many. */
  prune(finishedBefore: string, limit: number): Promise<number>

  /** Small texts that belong to the stream, such as pinned keys. */
  readValue(name: string): Promise<string | undefined>
  writeValue(name: string, value: string): Promise<void>
  close(): Promise<void>
}
