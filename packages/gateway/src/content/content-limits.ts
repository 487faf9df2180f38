/** Limits of stored content. */

/** Also the longest page of packages and threads in the API. */
export const MAXIMUM_CONTENT_PAGE = 200
export const MAXIMUM_PURPOSE_CHARACTERS = 200
export const MAXIMUM_HOLD_REASON_CHARACTERS = 2_000

/** Contents that one transaction of the retention deletes. */
export const DELETED_A_STEP = 100

/** How late a deletion may be. */
export const RETENTION_EVERY_SECONDS = 60

/** A century: a longer retention that a sender asks for ends then. */
export const MAXIMUM_RETENTION_DAYS = 36_525
