/** Limits of the API, beside those of every listener. A request above one of them is refused before any work is done. */

export const MAXIMUM_BODY_BYTES = 2_097_152
/** Longer than the longest wait for items. */
export const KEEP_ALIVE_MS = 72_000
/** Missing or invalid credentials from one address (IPv6: one /64 network), per instance. Later refusals are delayed. */
export const REFUSED_CREDENTIALS_PER_MINUTE = 1_200
export const REFUSAL_DELAY_MS = 1_000
/** Refusals that are held back at the same time. */
export const HELD_REFUSALS = 512
export const MAXIMUM_PARAMETER_CHARACTERS = 512
