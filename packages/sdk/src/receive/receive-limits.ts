import type { Backoff } from '../pause-and-backoff.ts'

/** Every limit of the receiving side, in one place. Times in milliseconds. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** What an agent may set otherwise. */
export const RECEIVE_LIMITS = {
  /** A notification has about half a kilobyte; what is far larger is none. */
  webhookBytes: 65_536,
  /** From the first to the last byte of a webhook's body. */
  webhookBodyMs: 10 * SECOND,

  /** How old the pinned keys may get: a revocation at the exchange is noticed within this time. */
  keyRefreshMs: 5 * MINUTE,

  /** Notifications asked for at once: the value that the specification shows. */
  pageItems: 100,
  /** Between polls of an agent without webhooks. */
  pollMs: 30 * SECOND,
  /** Between polls beside webhooks, which find what no webhook brought. */
  safetyPollMs: 15 * MINUTE,
  /** Webhooks overtake each other: this long a gap may close by itself. */
  gapPatienceMs: SECOND,
  /** After a poll that failed, doubled up to the longest. */
  pollRetryMs: SECOND,
  pollRetryLongestMs: 5 * MINUTE,
  /** How much of a wait is left to chance, so that agents do not ask in step. */
  jitter: 0.2,

  /** Calls of the handler for one event before it is set aside. */
  handlerAttempts: 8,
  /** Before the second call, doubled up to the longest. */
  handlerRetryMs: SECOND,
  handlerRetryLongestMs: 5 * MINUTE,
  /** One call of the handler. */
  handlerMs: 5 * MINUTE,
  /** What a call gets to come to its end when the receiver stops. */
  stopMs: 5 * SECOND,
  /** Longest reason that is kept with an event that was set aside. */
  reasonCharacters: 500,

  /** How long an event that was processed is kept, and how many are removed in one step. */
  processedMs: 30 * DAY,
  pruneMs: HOUR,
  pruneStep: 1_000,

  /** Without anything to do, the inbox is looked at this often, should a wake-up have been lost. */
  idleMs: 5 * SECOND,
  /** Events that one listing returns. */
  listedEvents: 1_000,
} as const

export type ReceiveLimits = { readonly [Name in keyof typeof RECEIVE_LIMITS]: number }

/** What stays as it is. */
export const FIXED_LIMITS = {
  /** Before the end of a key's validity its successor is looked for. */
  keyRefreshLeadMs: DAY,
  /** After a refresh that failed, and between refreshes close to the end of a key. */
  keyRefreshRetryMs: 30 * SECOND,
  /** How long a delivery waits for a refresh that is due, before it is judged by the pinned keys. */
  keyRefreshPatienceMs: 3 * SECOND,
  /** Refreshes that deliveries with unknown keys may cause at once, so that strangers cannot drive us. */
  unknownKeyBurst: 4,
  /** Time after which one more of them is allowed. */
  unknownKeyRefillMs: 15 * SECOND,
  /** Keys that a directory may list, and old keys that are kept for history. */
  directoryKeys: 100,
  keptKeys: 500,

  /** Pages read in a row before other work gets its turn. */
  pagesPerRound: 1_000,
  /** Acknowledgements read from the inbox at once, and sent side by side. */
  acknowledgementBatch: 200,
  acknowledgementsInFlight: 8,
  /** Addresses for webhooks that one inbox knows; an organization has fewer endpoints. */
  rememberedEndpoints: 50,
  /** Events that an inbox in memory takes before it asks for a later attempt. */
  memoryEvents: 100_000,
} as const

/** Between attempts to reach the exchange or the inbox. */
export function pollBackoff({ pollRetryMs, pollRetryLongestMs, jitter }: ReceiveLimits): Backoff {
  return { firstMs: pollRetryMs, longestMs: pollRetryLongestMs, jitter }
}
