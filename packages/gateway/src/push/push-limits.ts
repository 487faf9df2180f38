/** Limits of pushing items to systems. */

export const MAXIMUM_ENDPOINTS = 200
export const LONGEST_URL = 2_048
/** Items that are pushed at the same time, per instance. More than one endpoint that is away may use up. */
export const PUSHES_AT_ONCE = 64
/** The same for one endpoint. One whose last push failed gets a single item at a time. */
export const PUSHES_OF_ENDPOINT = 4
/** For connection, request and answer. */
export const REQUEST_TIMEOUT_MS = 15_000
/** Longer than a push takes, so that no item is pushed twice at the same time. */
export const VISIBILITY_SECONDS = 60
/** How long a worker waits for items before it reads the list of endpoints again. */
export const WAIT_SECONDS = 10
export const MAXIMUM_ANSWER_BYTES = 65_536
/** Pause after a failure that is not that of an endpoint. */
export const PAUSE_MS = 2_000
