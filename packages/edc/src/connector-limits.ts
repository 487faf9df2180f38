/** Limits of a connector adapter: times, sizes, attempts. */
export const LIMITS = {
  /** Default deadline of a call. */
  callMs: 120_000,
  /** One request to the management API. */
  requestMs: 20_000,
  connectMs: 10_000,
  /** Largest response of a management API. A catalog request names one dataset. */
  answerBytes: 2_000_000,
  /** Largest content that is fetched by default. */
  contentBytes: 32_000_000,
  /** How much of an error response is read. */
  problemBytes: 16_000,
  /** Attempts of a request that is safe to repeat. */
  attempts: 4,
  /** Between attempts, and between reads of a state. */
  backoff: { firstMs: 100, longestMs: 3_000, jitter: 0.25 },
  /** How long after STARTED a token may arrive. */
  tokenLagMs: 10_000,
  /** How long `finish` and `withdraw` wait for a transfer to end. */
  endingMs: 10_000,
  /** Negotiations or transfers that are read for one asset. */
  processes: 50,
} as const
