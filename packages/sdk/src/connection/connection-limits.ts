/** Limits of a connection: attempts, times, sizes. */
export interface ConnectionLimits {
  /** Attempts of one call, including the first. */
  readonly attempts: number
  /** For one attempt, from the first byte sent to the last byte read. */
  readonly timeoutMs: number
  /** Largest JSON response. */
  readonly answerBytes: number
  /** Pause before the second attempt. It doubles with each further attempt. */
  readonly firstBackoffMs: number
  readonly maximumBackoffMs: number
  /** A longer Retry-After ends the call; the error carries its value. */
  readonly maximumRetryAfterMs: number
}

export const DEFAULT_LIMITS: ConnectionLimits = {
  attempts: 5,
  timeoutMs: 30_000,
  answerBytes: 16_777_216,
  firstBackoffMs: 200,
  maximumBackoffMs: 5_000,
  maximumRetryAfterMs: 30_000,
}

/** Random share that is added to a pause between attempts. */
export const BACKOFF_JITTER = 0.5

/** Largest response of the authorization server: metadata and tokens are small. */
export const OAUTH_ANSWER_BYTES = 131_072
/** How long the authorization server's metadata is cached. */
export const DISCOVERY_MS = 3_600_000
/** Lifetime of a client assertion, which is used immediately. */
export const ASSERTION_SECONDS = 60
/** Token lifetime if the authorization server omits `expires_in` (RFC 6749 section 5.1 only recommends it). */
export const ASSUMED_TOKEN_SECONDS = 60
/** A token is renewed after this share of its lifetime. */
export const RENEW_AFTER_SHARE = 0.8
/** Pages of a thread or of evidence that one call reads. */
export const MAXIMUM_PAGES = 1_000
/** Pages of a thread that are read for a list or a story: 5,000 packages of default pages. */
export const MAXIMUM_SHOWN_PAGES = 50
