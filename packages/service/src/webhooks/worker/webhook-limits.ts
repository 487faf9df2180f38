/**
 * Every limit, pause and time of the delivery engine, by what it protects. Constants that bound nothing, such as those of
 * a measurement or of an RFC, are beside the function that uses them.
 */

// Requests in flight: of the process, of a receiver, of all failing receivers.

/** Of one process: sockets and memory. An organization gets at most as many as remain free (lanes.ts). */
export const MAXIMUM_IN_FLIGHT = 1_024
/** To one endpoint, by all processes: a receiver is not overrun. Each process gets an equal share, at least one. */
export const MAXIMUM_IN_FLIGHT_PER_ENDPOINT = 16
/** Concurrency window of an endpoint before its first response. Each success adds one; a retryable failure leaves one. */
export const INITIAL_WINDOW = 2
/** How long the window of an idle endpoint is kept. */
export const WINDOW_MEMORY_MS = 60_000
/** To all failing endpoints together: the rest is reserved for healthy ones. */
export const MAXIMUM_FAILING_IN_FLIGHT = MAXIMUM_IN_FLIGHT / 2
/** Endpoints that one process tracks, for its memory; further ones wait for the next sweep. */
export const MAXIMUM_LANES = 100_000

// The ramp: how many requests are claimed. More would not finish sooner, because a new connection costs more than a request.

/** Requests that may hold a slot. A transaction that claims directly looks at no more endpoints. */
export const MAXIMUM_RAMP = 128
/** Slots at the start, when every request needs a new connection. */
export const INITIAL_RAMP = 16
/** A request that takes longer waits for its receiver and frees its slot, unless this process is too busy to read responses. */
export const RAMP_SLOT_MS = 50
/** Nothing is claimed while less than this share of the slots is free: a claim costs as much as several deliveries. */
export const MINIMUM_CLAIM_SHARE = 0.25

// Memory.

/** Entries of each cache: windows of idle endpoints, healthy endpoints, parsed URLs, TLS sessions, unresolved names, keys. */
export const MAXIMUM_CACHED = 10_000
/** Interval between reads of what changes without notice: unknown claims of this worker, name servers of the machine. */
export const REREAD_MS = 60_000

// Batches: statements that are neither tiny nor long.

/** Requests in flight from which claims and results wait to form larger batches. With fewer, latency counts. */
export const BATCHING_THRESHOLD = 48
/** Requests that end together are replaced by one claim. */
export const CLAIM_BATCH_DELAY_MS = 1
/** Nobody waits for a recorded result, so it may wait longer than a claim. */
export const RESULT_BATCH_DELAY_MS = 15
/** Results that one statement writes, and finished claims that it removes. */
export const RESULT_BATCH_SIZE = 256
/** Results that may wait while the database is unavailable. Claiming stops at this limit. */
export const MAXIMUM_UNRECORDED = 4 * MAXIMUM_IN_FLIGHT
/** Endpoints that one statement of a sweep finds. */
export const SWEEP_PAGE_SIZE = 1_000
/** Claims that one transaction takes from a dead worker: its locks are short. */
export const RECLAIM_BATCH_SIZE = 16

// Names and connections.

/** Of the first query to a name server; the second and last one gets twice as long. */
export const DNS_TIMEOUT_MS = 1_500
/** How long a name that could not be resolved is not asked for again. */
export const UNRESOLVED_NAME_MS = 5_000
/** Names that wait for the system's own resolver, which takes one at a time. */
export const MAXIMUM_SYSTEM_LOOKUPS_WAITING = 64
/** A larger hosts file is ignored. */
export const MAXIMUM_HOSTS_FILE_BYTES = 1_048_576
/** A receiver with many addresses must not use up the time of an attempt. */
export const MAXIMUM_ADDRESSES_TRIED = 3
/** Of the resolution of a name, and again of TCP and TLS with all addresses that are tried. */
export const CONNECT_TIMEOUT_MS = 5_000
/**
 * Idle connections are kept this long, or for the time that the receiver announces (Keep-Alive) if it is shorter. Shorter
 * than what firewalls forget, and long enough that a quiet receiver needs no handshake for each webhook.
 */
export const IDLE_CONNECTION_MS = 30_000
/** With more open connections than this, further ones are kept for a short time: descriptors and memory are few. */
export const MAXIMUM_KEPT_CONNECTIONS = 256
/** Of connections beyond MAXIMUM_KEPT_CONNECTIONS. */
export const SHORT_IDLE_CONNECTION_MS = 4_000

// Responses.

/** Until the status, which decides the result. */
export const HEADERS_TIMEOUT_MS = 10_000
/** Short, because the status has already decided the result. The body is read only to reuse the connection. */
export const BODY_TIMEOUT_MS = 2_000
/** Of one attempt as a whole, however slowly its steps advance. */
export const TOTAL_TIMEOUT_MS = 15_000
/** The connection is closed when a response body exceeds this size. */
export const MAXIMUM_RESPONSE_BYTES = 64 * 1_024
/** The same for headers. */
export const MAXIMUM_RESPONSE_HEADER_BYTES = 16 * 1_024
/** Of the text of an error in the record of an attempt, which operators read. */
export const MAXIMUM_ERROR_CHARACTERS = 300

// Retries and keys.

/** Jitter only lengthens the backoff: by at most a tenth, and at most a minute. Retry-After gets no jitter. */
export const JITTER_SHARE = 0.1
/** See JITTER_SHARE: a tenth of the last delays would be hours. */
export const MAXIMUM_JITTER_SECONDS = 60
/** Delay before a delivery that could not be signed is tried again. This does not count as an attempt. */
export const SIGNING_RETRY_SECONDS = 30
/** How long a signing key is used before its validity is checked again. */
export const KEY_CACHE_MS = 1_000

// Finding work, and other workers.

/** Interval between checks for retries that have become due. */
export const TICK_MS = 100
/** Interval between sweeps. Sweeps find deliveries whose NOTIFY was lost. */
export const SWEEP_MS = 2_000
/** The pause after a sweep is at least this multiple of its duration, so that sweeping never dominates the load. */
export const SWEEP_PAUSE_FACTOR = 20
/** The longest pause after a sweep, however long the sweep took: lost deliveries wait no longer. */
export const MAXIMUM_SWEEP_PAUSE_MS = 30_000
/** Sweep requests within this interval share one sweep. */
export const SWEEP_DEBOUNCE_MS = 25
/** Interval between checks of the other workers. A worker whose lock is free at two consecutive checks is dead. */
export const WORKER_CHECK_MS = 500
/** Checks to skip after this worker lost its own connection: the other workers may have lost theirs at the same time. */
export const CHECKS_SKIPPED_AFTER_LOSS = 10

// An unavailable database, and the end.

/** Pause before results are written again. */
export const RECORDING_RETRY_MS = 250
/** Grace period for requests in flight at shutdown. Deliveries that were not sent by then are released. */
export const DRAIN_MS = 10_000
/** How long a shutdown waits for results to be written while the database is unavailable. */
export const RECORDING_STOP_MS = 5_000
