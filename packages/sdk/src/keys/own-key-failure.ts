import { ExchangeError, type ExchangeErrorCode } from '../errors.ts'

const OWN_KEY_FAILURES: ReadonlySet<ExchangeErrorCode> = new Set([
  'key_unavailable',
  'key_store_unavailable',
  'key_store_locked',
  'key_store_exposed',
  'key_store_unreadable',
])

/**
 * The keys of this agent cannot be used now: a module is away, or its key store. It says nothing about a package, and
 * every other package fails alike until somebody mends it.
 */
export const isOwnKeyFailure = (error: unknown): boolean =>
  error instanceof ExchangeError && OWN_KEY_FAILURES.has(error.code)
