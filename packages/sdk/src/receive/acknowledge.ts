import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { deterministicKey } from './deterministic-key.ts'
import type { Inbox, PendingAcknowledgement } from './inbox.ts'
import { FIXED_LIMITS, pollBackoff, type ReceiveLimits } from './receive-limits.ts'
import type { OnReport } from './reports.ts'
import { backoffMs, pause } from '../pause-and-backoff.ts'
import type { Waker } from './waker.ts'

/** An acknowledgement confirms storage, not processing. */
const DISPOSITION = 'stored'

interface AcknowledgeOptions {
  readonly inbox: Inbox
  readonly signal: AbortSignal
  readonly onReport: OnReport
}

/** Acknowledges stored events until the abort. */
export async function keepAcknowledging(
  context: AgentContext,
  options: AcknowledgeOptions & { readonly limits: ReceiveLimits; readonly waker: Waker },
): Promise<void> {
  const { signal, onReport, waker } = options
  const { safetyPollMs } = options.limits
  const backoff = pollBackoff(options.limits)
  for (let failures = 0; !signal.aborted;) {
    const isDone = await acknowledgeStored(context, options).catch((error: unknown) => {
      onReport({ kind: 'trouble', during: 'acknowledgement', error })
      return false
    })
    failures = isDone ? 0 : failures + 1
    if (isDone) await waker.wait(safetyPollMs, signal)
    else await pause(backoffMs(failures, backoff), signal)
  }
}

/**
 * Acknowledges stored events that were polled. A retry sends the same key and content, since both come from the inbox.
 * Returns whether all events are acknowledged.
 */
async function acknowledgeStored(context: AgentContext, options: AcknowledgeOptions): Promise<boolean> {
  const { inbox, signal } = options
  while (!signal.aborted) {
    const open = await inbox.unacknowledged(FIXED_LIMITS.acknowledgementBatch)
    if (open.length === 0) return true
    const acknowledged = await acknowledgeAll(context, open, options)
    await inbox.markAcknowledged(acknowledged, context.now().toISOString())
    if (acknowledged.length < open.length) return false
  }
  return false
}

async function acknowledgeAll(
  context: AgentContext,
  open: readonly PendingAcknowledgement[],
  options: AcknowledgeOptions,
): Promise<string[]> {
  const acknowledged: string[] = []
  for (let i = 0; i < open.length; i += FIXED_LIMITS.acknowledgementsInFlight) {
    const group = open.slice(i, i + FIXED_LIMITS.acknowledgementsInFlight)
    const results = await Promise.all(group.map((each) => acknowledgeOne(context, each, options)))
    acknowledged.push(...group.filter((_, index) => results[index]).map(({ eventId }) => eventId))
    if (results.includes(false)) break
  }
  return acknowledged
}

/** False if a retry is needed. A final refusal is reported and dropped. */
async function acknowledgeOne(
  { connection, identity }: AgentContext,
  { eventId, notificationId, storedAt, lastContiguousSequence }: PendingAcknowledgement,
  { signal, onReport }: AcknowledgeOptions,
): Promise<boolean> {
  try {
    await connection.call('acknowledgeNotification', {
      path: { notification_id: notificationId },
      body: {
        event_id: eventId,
        disposition: DISPOSITION,
        stored_at: storedAt,
        last_contiguous_sequence: lastContiguousSequence,
      },
      idempotencyKey: await deterministicKey('ack', identity.organizationId, notificationId),
      signal,
    })
    return true
  } catch (error) {
    if (signal.aborted) return false
    onReport({ kind: 'trouble', during: 'acknowledgement', error })
    return error instanceof ExchangeError && error.code === 'exchange_refused' && !error.retryable
  }
}
