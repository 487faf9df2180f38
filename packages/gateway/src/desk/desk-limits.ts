/** Limits of the desk of a gateway. */

/** What a person has opened is read again, and recorded again, after this time. Deleted content is gone by then. */
export const READ_AGAIN_MS = 10 * 60_000
/** Sessions whose opened content is in memory. */
export const REMEMBERED_SESSIONS = 200
/** Pages that update themselves at the same time. */
export const MAXIMUM_LIVE_PAGES = 500
/** From the click to the way back from the identity provider. */
export const SIGN_ON_SECONDS = 600
/** Drafts that are looked through for those that need a person. */
export const MAXIMUM_WAITING = 200
/** Concurrent requests of this process to the identity provider. */
export const MAXIMUM_FINISHING = 16
/** Rows of one page of people, sessions or changes. Each may have forms and long names; a page stays below 100 KB. */
export const ROWS_OF_PAGE = 50
