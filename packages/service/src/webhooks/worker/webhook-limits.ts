/** Limits of the delivery engine. */

/** Concurrent requests of one process. */
export const MAXIMUM_IN_FLIGHT = 1_024
/** Concurrent requests to one endpoint across all processes. Each process gets an equal share, at least one. */
export const MAXIMUM_IN_FLIGHT_PER_ENDPOINT = 16
/** Concurrency window of an endpoint before its first response; each success adds one. */
export const INITIAL_WINDOW = 2
/** Concurrency window of an endpoint after a retryable failure. */
export const FAILING_WINDOW = 1
/** Concurrent requests to all failing endpoints together; the rest is reserved for healthy ones. */
export const MAXIMUM_FAILING_IN_FLIGHT = MAXIMUM_IN_FLIGHT / 2
/**
 * Requests that may hold a ramp slot. More would not finish sooner, because opening a connection costs more than the
 * request itself. A slot is freed after RAMP_SLOT_MS unless this process is too busy to read responses.
 */
export const MAXIMUM_RAMP = 128
export const INITIAL_RAMP = 16
export const RAMP_SLOT_MS = 50
/** Nothing is claimed while less than this share of the ramp slots is free. */
export const MINIMUM_CLAIM_SHARE = 0.25
/** Event-loop utilization above which the process counts as busy, and the shortest interval to measure it over. */
export const BUSY_UTILIZATION = 0.9
export const LOAD_SAMPLE_MS = 40
/** Endpoints that one process tracks; further ones wait for the next sweep. */
export const MAXIMUM_LANES = 100_000

export const RESULT_BATCH_SIZE = 256
/** Results that may wait while the database is unavailable. Claiming stops at this limit. */
export const MAXIMUM_UNRECORDED = 4 * MAXIMUM_IN_FLIGHT
export const SWEEP_PAGE_SIZE = 1_000
/** Claims that one transaction takes from a dead worker. */
export const RECLAIM_BATCH_SIZE = 16
/** Finished claims that one statement removes. */
export const CLAIM_REMOVAL_BATCH_SIZE = 256

export const CONNECT_TIMEOUT_MS = 5_000
/** Of the first query to a name server; the second one gets twice as long. */
export const DNS_TIMEOUT_MS = 1_500
export const DNS_MAXIMUM_TIMEOUT_MS = 3_000
export const DNS_TRIES = 2
export const DNS_SERVERS_REREAD_MS = 60_000
/** After the IPv4 answer (RFC 8305 section 3). */
export const IPV6_RESOLUTION_DELAY_MS = 50
/** How long a name that could not be resolved is not asked for again. */
export const UNRESOLVED_NAME_MS = 5_000
/** Names that wait for the system's own resolver. */
export const MAXIMUM_SYSTEM_LOOKUPS_WAITING = 64
export const HEADERS_TIMEOUT_MS = 10_000
/** Short, because the status has already decided the result. The body is read only to reuse the connection. */
export const BODY_TIMEOUT_MS = 2_000
export const TOTAL_TIMEOUT_MS = 15_000
/** The connection is closed when a response body exceeds this size. */
export const MAXIMUM_RESPONSE_BYTES = 64 * 1_024
export const MAXIMUM_RESPONSE_HEADER_BYTES = 16 * 1_024
export const MAXIMUM_ADDRESSES_TRIED = 3
export const IDLE_CONNECTION_MS = 4_000
export const MAXIMUM_IDLE_CONNECTION_MS = 30_000

/** Interval between checks for retries that have become due. */
export const TICK_MS = 100
/** Interval between sweeps. Sweeps find deliveries whose NOTIFY was lost. */
export const SWEEP_MS = 2_000
/** Interval between checks of the other workers. A worker whose lock is free at two consecutive checks is dead. */
export const WORKER_CHECK_MS = 500
/** Checks to skip after this worker lost its own connection: the other workers may have lost theirs at the same time. */
export const CHECKS_SKIPPED_AFTER_LOSS = 10
/** The pause after a sweep is at least this multiple of its duration, so that sweeping never dominates the load. */
export const SWEEP_PAUSE_FACTOR = 20
export const MAXIMUM_SWEEP_PAUSE_MS = 30_000
/** Sweep requests within this interval share one sweep. */
export const SWEEP_DEBOUNCE_MS = 25
/** From BATCHING_THRESHOLD requests in flight, claims and results are delayed so that they form larger batches. */
export const CLAIM_BATCH_DELAY_MS = 1
export const RESULT_BATCH_DELAY_MS = 15
export const BATCHING_THRESHOLD = 48
/** How long a signing key is used before its validity is checked again. */
export const KEY_CACHE_MS = 1_000
/** Delay before a delivery that could not be signed is tried again. This does not count as an attempt. */
export const SIGNING_RETRY_SECONDS = 30
/** Grace period for requests in flight at shutdown. Deliveries that were not sent by then are released. */
export const DRAIN_MS = 10_000
export const RECORDING_RETRY_MS = 250
/** How long a shutdown waits for results to be written while the database is unavailable. */
export const RECORDING_STOP_MS = 5_000
export const MAXIMUM_ERROR_CHARACTERS = 300
