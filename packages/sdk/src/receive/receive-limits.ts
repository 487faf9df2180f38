import type { Backoff } from '../pause-and-backoff.ts'

/** Limits of receiving. Times in milliseconds. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Limits that an agent may change. */
export const RECEIVE_LIMITS = {
  /** Largest webhook body. A notification has about half a kilobyte. */
  webhookBytes: 65_536,
  /** From the first to the last byte of a webhook's body. */
  webhookBodyMs: 10 * SECOND,

  /** Interval of key refreshes: a revocation at the exchange takes effect within this time. */
  keyRefreshMs: 5 * MINUTE,

  /** Notifications per page: the value in the specification. */
  pageItems: 100,
  /** Between polls of an agent without webhooks. */
  pollMs: 30 * SECOND,
  /** Between polls of an agent with webhooks; they find events that no webhook delivered. */
  safetyPollMs: 15 * MINUTE,
  /** How long a gap may close by itself: webhooks arrive out of order. */
  gapPatienceMs: SECOND,
  /** First and longest pause after a failed poll. */
  pollRetryMs: SECOND,
  pollRetryLongestMs: 5 * MINUTE,
  /** Random share that is added to a pause, so that agents do not poll in step. */
  jitter: 0.2,

  /** Calls of the handler for one event before it is set aside. */
  handlerAttempts: 8,
  /** First and longest pause before another call of the handler. */
  handlerRetryMs: SECOND,
  handlerRetryLongestMs: 5 * MINUTE,
  /** Longest pause while the keys of the agent cannot be used: a module comes back without a notice. */
  keyRetryLongestMs: 15 * SECOND,
  /** Timeout of one call of the handler. */
  handlerMs: 5 * MINUTE,
  /** Time for a running call to finish when the receiver stops. */
  stopMs: 5 * SECOND,
  /** Longest stored reason of a set-aside event. */
  reasonCharacters: 500,

  /** How long processed events are kept, how often they are pruned, and how many at a time. */
  processedMs: 30 * DAY,
  pruneMs: HOUR,
  pruneStep: 1_000,

  /** How often an idle receiver reads the inbox, in case a wake-up was lost. */
  idleMs: 5 * SECOND,
  /** Events per listing. */
  listedEvents: 1_000,
} as const

export type ReceiveLimits = { readonly [Name in keyof typeof RECEIVE_LIMITS]: number }

/** Limits that are fixed. */
export const FIXED_LIMITS = {
  /** How long before the expiry of a key its successor is fetched. */
  keyRefreshLeadMs: DAY,
  /** After a failed refresh, and between refreshes shortly before the expiry of a key. */
  keyRefreshRetryMs: 30 * SECOND,
  /** How long a delivery waits for a due refresh before the pinned keys are used. */
  keyRefreshPatienceMs: 3 * SECOND,
  /** Burst of refreshes for deliveries with unknown keys, which anyone can send. */
  unknownKeyBurst: 4,
  /** Time until one more such refresh is allowed. */
  unknownKeyRefillMs: 15 * SECOND,
  /** Keys of a directory, and old keys that are kept for history. */
  directoryKeys: 100,
  keptKeys: 500,

  /** Pages that one round of polling reads. */
  pagesPerRound: 1_000,
  /** Acknowledgements per batch, and concurrent requests. */
  acknowledgementBatch: 200,
  acknowledgementsInFlight: 8,
  /** Webhook addresses that one inbox remembers. */
  rememberedEndpoints: 50,
  /** Events in a memory inbox. Further deliveries are deferred. */
  memoryEvents: 100_000,
} as const

/** Longest time from the start of a call of the handler to the end of the pause after it. */
export function leaseMs({ handlerMs, stopMs, handlerRetryLongestMs, jitter }: ReceiveLimits): number {
  return handlerMs + stopMs + handlerRetryLongestMs * (1 + jitter)
}

/** Between attempts to reach the exchange or the inbox. */
export function pollBackoff({ pollRetryMs, pollRetryLongestMs, jitter }: ReceiveLimits): Backoff {
  return { firstMs: pollRetryMs, longestMs: pollRetryLongestMs, jitter }
}

/** Between attempts to open a package while the keys of the agent cannot be used. */
export function keyBackoff({ pollRetryMs, keyRetryLongestMs, jitter }: ReceiveLimits): Backoff {
  return { firstMs: pollRetryMs, longestMs: keyRetryLongestMs, jitter }
}
