/** Limits of each listener: API with desk and MCP, webhook receiver, administration. */
export const LISTENER_LIMITS = {
  connections: 2_000,
  /** Time for the whole request to arrive. */
  requestMs: 30_000,
} as const

export type ListenerLimits = { readonly [Name in keyof typeof LISTENER_LIMITS]: number }
