/** Limits of sending packages. */

/** Default lifetime of content. The policy may shorten it. */
export const DEFAULT_EXPIRY_DAYS = 14

/** How long the outbox keeps finished entries: as long as the exchange keeps idempotency records. */
export const FINISHED_KEPT_DAYS = 30

/** Entries that one call of `resume` processes. */
export const MAXIMUM_RESUMED = 1_000

/** State changes of one outbox entry in one call. More means that two senders undo each other's changes. */
export const MAXIMUM_MOVES = 16
