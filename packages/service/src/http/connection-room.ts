import type { DeploymentProfile } from '@agent-exchange/protocol'

/** How many connections each listener of this process may have open. */
export interface ConnectionRoom {
  readonly agent: number
  readonly operator: number
  readonly perAddress: number
}

/** Descriptors for the database, the log, the embedded server, TLS files and the runtime itself. */
const KEPT_FREE = 64
/** Share of the descriptors that stays free for webhooks, and how many of them are enough. */
const OUTBOUND_SHARE = 1 / 4
const OUTBOUND_ENOUGH = 1_024
/** Health checks and operators get in however full the agent API is. */
const OPERATOR_SHARE = 1 / 8
const LEAST = 8

/** O-13, lowered where the process may not open enough descriptors: those of the database are never given away. */
export function connectionRoom(profile: DeploymentProfile, descriptors = Infinity): ConnectionRoom {
  const { connections, connections_per_address, operator_connections } = profile['O-13']
  const outbound = Math.min(OUTBOUND_ENOUGH, descriptors * OUTBOUND_SHARE)
  const free = Math.floor(descriptors - KEPT_FREE - outbound)
  const operator = atLeast(Math.min(operator_connections, Math.floor(free * OPERATOR_SHARE)))
  const agent = atLeast(Math.min(connections, free - operator))
  // One address never holds them all.
  const perAddress = Math.min(connections_per_address, Math.ceil(agent / 2))
  return { agent, operator, perAddress }
}

function atLeast(connections: number): number {
  return Math.max(LEAST, connections)
}
