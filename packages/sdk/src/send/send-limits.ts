/** Limits of sending and opening packages. */

/** Default lifetime of content. The policy may shorten it. */
export const DEFAULT_EXPIRY_DAYS = 14

/** How long the outbox keeps finished entries: as long as the exchange keeps idempotency records. */
export const FINISHED_KEPT_DAYS = 30

/** Entries that one call of `resume` processes. */
export const MAXIMUM_RESUMED = 1_000

/** State changes of one outbox entry in one call. More means that two senders undo each other's changes. */
export const MAXIMUM_MOVES = 16

/** Default limit of sealed content. */
export const MAXIMUM_CONTENT_BYTES = 16_777_216

/** Pages of a thread or of evidence that one call reads. */
export const MAXIMUM_PAGES = 1_000

/** Nesting depth of an object's JSON. The recipient parses with the same limit. */
export const MAXIMUM_DEPTH = 32
