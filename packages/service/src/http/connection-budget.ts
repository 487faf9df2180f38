import type { DeploymentProfile } from '@agent-exchange/protocol'

/** Connection limits of the listeners of this process. */
export interface ConnectionBudget {
  readonly agent: number
  readonly operator: number
  readonly perAddress: number
}

/** File descriptors for the database, the log, the embedded server, TLS files and the runtime. */
const RESERVED_DESCRIPTORS = 64
/** File descriptors reserved for webhooks: a share, up to a maximum. */
const OUTBOUND_SHARE = 1 / 4
const MAXIMUM_OUTBOUND = 1_024
/** Reserved for health checks and operators, so that they get in when the agent API is at its limit. */
const OPERATOR_SHARE = 1 / 8
const MINIMUM_CONNECTIONS = 8

/** The limits of O-13, lowered if the process may not open enough file descriptors. */
export function connectionBudget(profile: DeploymentProfile, descriptors = Infinity): ConnectionBudget {
  const { connections, connections_per_address, operator_connections } = profile['O-13']
  const outbound = Math.min(MAXIMUM_OUTBOUND, descriptors * OUTBOUND_SHARE)
  const free = Math.floor(descriptors - RESERVED_DESCRIPTORS - outbound)
  const operator = atLeast(Math.min(operator_connections, Math.floor(free * OPERATOR_SHARE)))
  const agent = atLeast(Math.min(connections, free - operator))
  // One address can never use all connections.
  const perAddress = Math.min(connections_per_address, Math.ceil(agent / 2))
  return { agent, operator, perAddress }
}

function atLeast(connections: number): number {
  return Math.max(MINIMUM_CONNECTIONS, connections)
}
