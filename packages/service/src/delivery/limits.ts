/** Every bound of the delivery engine. */

/** Requests under way in one process, to all receivers together. */
export const MAXIMUM_IN_FLIGHT = 1_024
/** Requests under way to one endpoint, from all processes together: each has its share of them, and at least one. */
export const MAXIMUM_IN_FLIGHT_PER_ENDPOINT = 16
/** What an endpoint gets before it has answered anything; each success adds one. */
export const FIRST_WINDOW = 2
/** What an endpoint gets after a failure that is tried again. */
export const TROUBLED_WINDOW = 1
/** Receivers in trouble hold at most so many of the process's requests; the rest is for those that work. */
export const MAXIMUM_TROUBLED_IN_FLIGHT = MAXIMUM_IN_FLIGHT / 2
/**
 * Requests under way that are younger than this. More of them would not be answered sooner: each needs a connection,
 * and opening one costs more than the request itself. Those that take longer count no more, unless this process has
 * no time for their answers.
 */
export const MAXIMUM_YOUNG = 128
export const FIRST_YOUNG = 16
export const YOUNG_MS = 50
/** Nothing is claimed while less than this share of them is free. */
export const SMALLEST_CLAIM_SHARE = 0.25
/** The share of its time that a process works when it is called busy, over so long at least. */
export const BUSY_UTILIZATION = 0.9
export const LOAD_SAMPLE_MS = 40
/** Endpoints that a process remembers; those beyond wait for the next sweep. */
export const MAXIMUM_LANES = 100_000

export const RECORDED_ROWS = 256
/** Results that may wait for a database that is away; then nothing more is claimed. */
export const MAXIMUM_UNRECORDED = 4 * MAXIMUM_IN_FLIGHT
export const SWEPT_LANES = 1_000
/** Claims that are taken from a worker in one transaction. */
export const TAKEN_CLAIMS = 16
/** Claims of which nothing is under way, removed by one statement. */
export const REMOVED_CLAIMS = 256

export const CONNECT_LIMIT_MS = 5_000
export const HEADERS_LIMIT_MS = 10_000
/** The status has decided by then; the rest of the answer is only read to keep the connection. */
export const BODY_LIMIT_MS = 2_000
export const TOTAL_LIMIT_MS = 15_000
/** More of an answer is not read: the connection is closed instead. */
export const MAXIMUM_ANSWER_BYTES = 64 * 1_024
export const MAXIMUM_ANSWER_HEADER_BYTES = 16 * 1_024
export const MAXIMUM_ADDRESSES_TRIED = 3
export const IDLE_CONNECTION_MS = 4_000
export const LONGEST_IDLE_CONNECTION_MS = 30_000

/** How often the process looks whether a retry has come due. */
export const TICK_MS = 100
/** How often it looks into the database without having been called: wake-up calls can get lost. */
export const SWEEP_MS = 2_000
/** How often it looks whether the other workers still live. One that is found gone twice in a row is dead. */
export const WORKER_WATCH_MS = 500
/** Looks that are skipped after this worker's own connection was lost: those of the others may have been lost with it. */
export const WATCHES_AFTER_LOSS = 10
/** A sweep is followed by a pause of so many times its length: looking must never be the main work. */
export const SWEEP_REST = 20
export const LONGEST_SWEEP_PAUSE_MS = 30_000
/** Calls to look everywhere that come together are answered by one sweep. */
export const SOON_MS = 25
/** While many requests are under way, claims and results wait so long for company. */
export const GATHERING_MS = 1
export const GATHERING_RESULTS_MS = 15
export const GATHERING_FROM_IN_FLIGHT = 48
/** How long a signing key that was found usable is used without asking again. */
export const KEY_FRESH_MS = 1_000
/** A delivery that could not be signed is looked at again after this time; no attempt is used up. */
export const UNSENT_PAUSE_SECONDS = 30
/** At the end of the process: time for what was begun. What has not left by then is given back. */
export const DRAIN_MS = 10_000
export const RECORDING_PAUSE_MS = 250
export const MAXIMUM_ERROR_CHARACTERS = 300
