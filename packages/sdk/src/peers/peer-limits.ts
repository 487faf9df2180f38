/** How long a response of the directory is cached. */
export const DIRECTORY_CACHE_MS = 30_000
/** Cached directories. */
export const CACHED_DIRECTORIES = 1_000
/** Keys of one agent; the limit of the exchange (O-14, list_items). */
export const DIRECTORY_KEYS = 1_000
/** Signatures verified in one search for introductions; limits the work that a hostile directory causes. */
export const INTRODUCTION_CHECKS = 5_000
