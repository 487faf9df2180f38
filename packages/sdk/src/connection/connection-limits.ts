/** Ends of everything that a connection waits for or reads. */
export interface ConnectionLimits {
  /** Tries of one call, the first included. */
  readonly attempts: number
  /** For one try, from the first byte sent to the last byte read. */
  readonly timeoutMs: number
  /** Largest JSON answer. */
  readonly answerBytes: number
  /** Wait before the second try; it doubles from there. */
  readonly firstBackoffMs: number
  readonly maximumBackoffMs: number
  /** A longer Retry-After is left to the caller, who learns it from the error. */
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

/** Metadata and token answers are small. */
export const OAUTH_ANSWER_BYTES = 131_072
/** How long the authorization server's metadata is believed. */
export const DISCOVERY_MS = 3_600_000
/** Lifetime of a client assertion: it is used at once. */
export const ASSERTION_SECONDS = 60
/** Where the authorization server names no lifetime (RFC 6749 section 5.1 only recommends it). */
export const ASSUMED_TOKEN_SECONDS = 60
/** A token is renewed once this share of its life is over. */
export const RENEW_AFTER_SHARE = 0.8
