/** Limits of every wait for the database. docs/high-availability.md lists them. */

/** Opening a session: for all hosts of an address together, and for each of them. */
export const CONNECT_LIMIT_MS = 10_000
export const HOST_LIMIT_MS = 4_000
/** The server ends a statement, a wait for a lock, or a session that is idle in a transaction after this time. */
export const STATEMENT_LIMIT_MS = 30_000
export const LOCK_LIMIT_MS = 10_000
export const IDLE_IN_TRANSACTION_LIMIT_MS = 30_000
/** Statements without an answer end their connection: a server that is frozen or cut off enforces no limit itself. */
export const ANSWER_LIMIT_MS = 40_000
/** The watch notices such a server earlier. */
export const PING_MS = 1_000
export const PING_LIMIT_MS = 5_000
/** Idle time before the system probes a TCP connection. */
export const KEEP_ALIVE_AFTER_MS = 10_000
/** After an attempt to connect that failed slowly, callers are refused for this time instead of waiting as well. */
export const SLOW_CONNECT_MS = 500
export const RECONNECT_PAUSE_MS = 250
