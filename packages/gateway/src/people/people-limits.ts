/** Limits of people, their links and their sessions. */

export const MAXIMUM_PEOPLE = 10_000
/** People, sessions or entries of one page of a list. */
export const MAXIMUM_LISTED = 500
export const MAXIMUM_NAME_CHARACTERS = 200
export const LINK_VALID_MS = 86_400_000

/** A session ends this long after the last page. */
export const IDLE_MS = 30 * 60_000
/** A session ends this long after the sign-in, however busy it is. */
export const ABSOLUTE_MS = 8 * 3_600_000
export const MAXIMUM_SESSIONS_OF_PERSON = 20
/** A session that is in use is written at most this often. */
export const TOUCH_MS = 60_000
/** Ended sessions and links stay this long. */
export const KEPT_MS = 30 * 86_400_000
/** Rows that one run of the clean-up deletes of each table. */
export const CLEANUP_ROWS = 1_000
