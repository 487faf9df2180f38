/** Limits of the listener. A request above one of them is refused before any work is done. */

export const MAXIMUM_BODY_BYTES = 2_097_152
/** Time for the whole request to arrive. */
export const REQUEST_TIMEOUT_MS = 30_000
/** Longer than the longest wait for items. */
export const KEEP_ALIVE_MS = 72_000
/** Missing or invalid credentials from one address (IPv6: one /64 network), per instance. Later refusals are delayed. */
export const REFUSED_CREDENTIALS_PER_MINUTE = 1_200
export const REFUSAL_DELAY_MS = 1_000
/** Refusals that are held back at the same time. */
export const HELD_REFUSALS = 512
export const MAXIMUM_CONNECTIONS = 2_000
/** Grace period for open requests at shutdown. */
export const DRAIN_MS = 10_000
export const MAXIMUM_PARAMETER_CHARACTERS = 512
