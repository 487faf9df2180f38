/** Ends of everything that the exchange of packages keeps, reads or waits for. */

/** How long content is offered where the caller names no end; the policy may shorten it. */
export const DEFAULT_EXPIRY_DAYS = 14

/** How long the outbox keeps what was accepted or refused: as long as the exchange keeps answers for retries. */
export const FINISHED_KEPT_DAYS = 30

/** Entries that one resumption works off; the next one goes on. */
export const MAXIMUM_RESUMED = 1_000

/** Moves of one outbox entry in one go; more means that two senders undo each other's work. */
export const MAXIMUM_MOVES = 16

/** Largest sealed content that is read where the caller sets no limit. */
export const MAXIMUM_CONTENT_BYTES = 16_777_216

/** Pages of a thread or of evidence that are read in a row. */
export const MAXIMUM_PAGES = 1_000

/** How deep the JSON of an object may nest; the other side reads with the same limit. */
export const MAXIMUM_DEPTH = 32
