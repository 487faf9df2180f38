import type { NotificationEnvelope } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import { isOwnKeyFailure } from '../keys/own-key-failure.ts'
import type { Effect, Inbox, InboxEvent } from './inbox.ts'
import { keyBackoff, leaseMs, pollBackoff, type ReceiveLimits } from './receive-limits.ts'
import { envelopeOf } from './notification.ts'
import type { OnReport } from './reports.ts'
import { randomId } from '../connection/random-id.ts'
import { backoffMs, pause } from '../pause-and-backoff.ts'
import type { Waker } from './waker.ts'

/** Context of a call of the handler. */
export interface HandlerCall {
  /** Aborted when the receiver stops or the call takes too long. */
  readonly signal: AbortSignal
  /** The same in every call for this event; usable as an idempotency key elsewhere. */
  readonly key: string
  /** 1 for the first call. */
  readonly attempt: number
}

/**
 * Called at least once for each event, one at a time, in stream order. A returned function runs in the transaction that
 * marks the event as processed, and so exactly once.
 */
export type EventHandler<Transaction = unknown> = (
  event: NotificationEnvelope,
  call: HandlerCall,
) => Promise<Effect<Transaction> | void> | Effect<Transaction> | void

/** What an event is about; undefined if it may repeat another event. */
export type SubjectOf = (event: NotificationEnvelope) => string | undefined

/** Whether the handler does anything about an event. Others are marked as processed without a call. */
export type Wants = (event: NotificationEnvelope) => boolean

/** Thrown by a handler: the event waits at the head of the queue and the call does not count as an attempt. */
export class EventPostponed extends Error {
  constructor(cause: unknown) {
    super('The event is postponed.', { cause })
  }
}

/** Thrown by a handler: another call cannot succeed, so the event is set aside at once. */
export class EventUnprocessable extends Error {
  constructor(cause: unknown) {
    super('The event cannot be processed.', { cause })
  }
}

export interface ProcessingOptions<Transaction> {
  readonly inbox: Inbox<Transaction>
  readonly handle: EventHandler<Transaction>
  /** Events with the same subject are handled once. */
  readonly subjectOf?: SubjectOf
  readonly wants?: Wants
  readonly now: () => Date
  readonly limits: ReceiveLimits
  readonly waker: Waker
  readonly signal: AbortSignal
  readonly onReport: OnReport
}

/** Processes the events of the inbox in order until the abort. Retries after failures of the inbox. */
export async function processEvents<Transaction>(options: ProcessingOptions<Transaction>): Promise<void> {
  const { inbox, limits, waker, signal, onReport } = options
  const holder = randomId('receiver')
  let failures = 0
  let reported: string | undefined
  while (!signal.aborted) {
    try {
      const event = await inbox.next()
      const heldBy = event && (await processOne(event, holder, options))
      if (heldBy !== undefined && event && reported !== event.eventId)
        onReport({ kind: 'handled_elsewhere', eventId: (reported = event.eventId), heldBy })
      if (!event || heldBy !== undefined) await waker.wait(limits.idleMs, signal)
      failures = 0
    } catch (error) {
      const trouble = error instanceof EventPostponed ? error.cause : error
      const isAboutKeys = isOwnKeyFailure(trouble)
      const during = isAboutKeys ? 'keys' : error instanceof EventPostponed ? 'exchange' : 'inbox'
      onReport({ kind: 'trouble', during, error: trouble })
      await pause(backoffMs(++failures, isAboutKeys ? keyBackoff(limits) : pollBackoff(limits)), signal)
    }
  }
}

/** Returns who else handles the event, if somebody does. */
async function processOne<Transaction>(
  event: InboxEvent,
  holder: string,
  options: ProcessingOptions<Transaction>,
): Promise<string | undefined> {
  const { inbox, limits, now } = options
  const { eventId } = event
  const envelope = envelopeOf(event)
  const isWanted = options.wants?.(envelope) ?? true
  const subject = options.subjectOf?.(envelope)
  if (!isWanted || (subject !== undefined && (await inbox.hasFinished(subject)))) {
    await inbox.finish(eventId, now().toISOString())
    return undefined
  }
  const at = now()
  const until = new Date(at.getTime() + leaseMs(limits)).toISOString()
  const begun = await inbox.beginAttempt(eventId, { holder, now: at.toISOString(), until })
  if (!begun) return undefined
  if ('heldBy' in begun) return begun.heldBy
  let isFinished = false
  try {
    isFinished = await makeAttempt(event, begun.attempt, subject, options)
  } finally {
    // The lease of a finished event ended with it.
    if (!isFinished) await inbox.endLease(holder)
  }
  return undefined
}

/** True if the event is finished. */
async function makeAttempt<Transaction>(
  event: InboxEvent,
  attempt: number,
  subject: string | undefined,
  options: ProcessingOptions<Transaction>,
): Promise<boolean> {
  const { inbox, limits, now } = options
  const { eventId } = event
  // Calls are counted before they start: here every call crashed the process.
  if (attempt > limits.handlerAttempts) {
    await setAside(eventId, 'No call of the handler ever returned.', options)
    return false
  }
  try {
    const effect = await callHandler(event, attempt, options)
    return await inbox.finish(eventId, now().toISOString(), effect, subject)
  } catch (error) {
    await afterFailure(event, attempt, error, options)
    return false
  }
}

async function afterFailure<Transaction>(
  { eventId }: InboxEvent,
  attempt: number,
  error: unknown,
  options: ProcessingOptions<Transaction>,
): Promise<void> {
  const { inbox, limits, signal, onReport } = options
  if (signal.aborted) return inbox.cancelAttempt(eventId)
  if (isPostponed(error)) {
    await inbox.cancelAttempt(eventId)
    throw error
  }
  if (error instanceof EventUnprocessable)
    return setAside(eventId, reasonOf(error.cause, limits.reasonCharacters), options)
  if (attempt >= limits.handlerAttempts)
    return setAside(eventId, reasonOf(error, limits.reasonCharacters), options)
  onReport({ kind: 'handler_failed', eventId, attempt, error })
  const { handlerRetryMs: firstMs, handlerRetryLongestMs: longestMs, jitter } = limits
  await pause(backoffMs(attempt, { firstMs, longestMs, jitter }), signal)
}

/** A call that ignores its signal is abandoned after its timeout, and its result is dropped. */
async function callHandler<Transaction>(
  event: InboxEvent,
  attempt: number,
  { handle, limits, signal }: ProcessingOptions<Transaction>,
): Promise<Effect<Transaction> | undefined> {
  const limit = new AbortController()
  const giveUp = () => limit.abort(tooLong())
  const timers = [setTimeout(giveUp, limits.handlerMs)]
  const onStop = () => void timers.push(setTimeout(giveUp, limits.stopMs))
  signal.addEventListener('abort', onStop)
  if (signal.aborted) onStop()
  const ended = new Promise<never>((_, reject) => {
    limit.signal.addEventListener('abort', () => reject(tooLong()))
  })
  try {
    const call = { signal: AbortSignal.any([signal, limit.signal]), key: event.eventId, attempt }
    const returned = await Promise.race([handle(envelopeOf(event), call), ended])
    return typeof returned === 'function' ? returned : undefined
  } finally {
    signal.removeEventListener('abort', onStop)
    timers.forEach(clearTimeout)
  }
}

async function setAside<Transaction>(
  eventId: string,
  reason: string,
  { inbox, now, onReport }: ProcessingOptions<Transaction>,
): Promise<void> {
  await inbox.setAside(eventId, now().toISOString(), reason)
  onReport({ kind: 'set_aside', eventId, reason })
}

function isPostponed(error: unknown): boolean {
  if (error instanceof EventPostponed || isOwnKeyFailure(error)) return true
  return error instanceof ExchangeError && error.code === 'inbox_unavailable'
}

function reasonOf(error: unknown, characters: number): string {
  if (!(error instanceof Error)) return 'The handler threw a value that is not an Error.'
  const name = error instanceof ExchangeError ? error.code : error.name
  return `${name}: ${error.message}`.slice(0, characters)
}

function tooLong(): ExchangeError {
  return new ExchangeError('timed_out', { what: 'The handler did not return in time.', retryable: true })
}
