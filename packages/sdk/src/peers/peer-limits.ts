/** How long an answer of the directory is used without asking again. */
export const DIRECTORY_CACHE_MS = 30_000
/** Agents whose directories are kept at the same time. */
export const CACHED_DIRECTORIES = 1_000
/** As many keys as an exchange keeps of one agent (O-14, list_items). */
export const DIRECTORY_KEYS = 1_000
/** Signatures checked in one search for introductions: an honest directory needs a few, a hostile one no more. */
export const INTRODUCTION_CHECKS = 5_000
