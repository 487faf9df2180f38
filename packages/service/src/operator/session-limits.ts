/** Lifetimes and counts of console sessions. */
export interface SessionLimits {
  /** A session ends this long after its last page. */
  readonly idleSeconds: number
  /** A session ends this long after sign-in, however busy it is. */
  readonly absoluteSeconds: number
  readonly sessionsPerOperator: number
  readonly failuresPerWindow: number
  readonly windowSeconds: number
}

export const SESSION_LIMITS: SessionLimits = {
  idleSeconds: 30 * 60,
  absoluteSeconds: 8 * 3_600,
  sessionsPerOperator: 20,
  failuresPerWindow: 10,
  windowSeconds: 15 * 60,
}
