/** When something needs a person. The alert rules of deploy/prometheus use the same times. */

const HOUR_SECONDS = 3_600
const DAY_SECONDS = 24 * HOUR_SECONDS

/** The age of the oldest package that waits in an inbox. */
export const INBOX_OLD_SECONDS = HOUR_SECONDS
/** The exchange has not accepted a package for this time. */
export const OUTBOX_STUCK_SECONDS = 900
/** A key without a successor ends within this time. */
export const KEY_ENDS_SECONDS = 14 * DAY_SECONDS
/** A deadline that passed is reported for this time. */
export const DEADLINE_REPORTED_SECONDS = 30 * DAY_SECONDS
/** A package that no system has taken for this time waits for a person. */
export const NEWS_AFTER_SECONDS = 300
/** Rows that one query reads for mail. */
export const MAXIMUM_LISTED = 1_000
