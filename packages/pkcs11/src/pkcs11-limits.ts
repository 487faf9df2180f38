/** Maximum time of one call, including a login. */
export const CALL_TIMEOUT_MS = 5_000
/** Calls that wait for the module. A signature takes between a fraction of a millisecond and some tens of them. */
export const MAXIMUM_QUEUED_CALLS = 1_000
/** Calls that the worker thread has at once, so that it need not wait for the next one. */
export const MAXIMUM_CALLS_IN_FLIGHT = 16
/** Threads that hang inside the module and cannot be ended. No further one is started beside them. */
export const MAXIMUM_HUNG_THREADS = 4
export const MAXIMUM_LISTED_KEYS = 1_000
export const MAXIMUM_PIN_BYTES = 256
/** Time for the worker thread to log out when the module is closed. */
export const CLOSE_TIMEOUT_MS = 1_000
/** Maximum time until the worker thread runs: it loads files, and the machine may be busy. */
export const START_TIMEOUT_MS = 30_000
