/** Every bound of the connector side, in one place. */
export const LIMITS = {
  /** One whole call, unless the caller says otherwise. */
  callMs: 120_000,
  /** One request to the management API. */
  requestMs: 20_000,
  connectMs: 10_000,
  /** Largest answer of a management API. Catalogs are asked for one dataset at a time. */
  answerBytes: 2_000_000,
  /** Largest package that is fetched, unless the caller says otherwise. */
  contentBytes: 32_000_000,
  /** What of a failed answer is read. */
  problemBytes: 16_000,
  /** How often a request that is safe to repeat is repeated. */
  attempts: 4,
  pollMinimumMs: 100,
  pollMaximumMs: 3_000,
  /** How long a token may lag behind the state that promises it. */
  tokenLagMs: 10_000,
  /** How long `finish` and `withdraw` wait for a transfer to end. */
  endingMs: 10_000,
  /** Processes looked at for one asset. */
  processes: 50,
} as const
