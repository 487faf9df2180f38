/** Limits of the inbox for systems. A request above one of them is refused before any work is done. */

/** Longest wait of a request for items. */
export const MAXIMUM_WAIT_SECONDS = 30
/** Requests that wait at the same time, per instance. */
export const MAXIMUM_WAITING_REQUESTS = 500
/** Items that one request takes. Each is returned with its content. */
export const MAXIMUM_LEASES = 20
export const DEFAULT_VISIBILITY_SECONDS = 60
export const MAXIMUM_VISIBILITY_SECONDS = 3_600
/** A lease cannot be extended beyond this time after it was taken. */
export const MAXIMUM_LEASE_SECONDS = 43_200
/** An item that was taken this often without success is set aside. */
export const MAXIMUM_ATTEMPTS = 8
/** Pause after the first failure; each further one doubles it. */
export const FIRST_BACKOFF_SECONDS = 5
export const MAXIMUM_BACKOFF_SECONDS = 900
export const MAXIMUM_REASON_CHARACTERS = 1_000
/** Page of items that were set aside. */
export const MAXIMUM_SET_ASIDE_PAGE = 200
/** Items that are done are deleted after this time. Their packages are in the list of packages. */
export const FINISHED_ITEM_DAYS = 30
export const FINISHED_ITEMS_A_STEP = 1_000
