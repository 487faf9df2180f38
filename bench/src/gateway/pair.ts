import type { Identity } from '@agent-exchange/sdk'
import type { Exchange } from '../exchange/exchange.ts'

/** Two agents of two organizations: one sends, the other handles. */
export interface Pair {
  /** In snake case; it is part of ids and of the name of a database. */
  readonly name: string
  readonly asking: Identity
  readonly handling: Identity
}

export const pairOf = (name: string): Pair => ({
  name,
  asking: { organizationId: `org_${name}_asking`, agentId: `agent_${name}_asking` },
  handling: { organizationId: `org_${name}_handling`, agentId: `agent_${name}_handling` },
})

export const SKILL = { id: 'skill_alignment', version: '1.0.0' }
export const REGISTRATION = {
  implementation: 'benchmark',
  implementationVersion: '1.0.0',
  skillVersions: { [SKILL.id]: SKILL.version },
}

/** Creates the organization of an agent and returns the invitation for the agent. */
export async function invite({ world }: Exchange, { organizationId, agentId }: Identity): Promise<string> {
  await world.operate('POST', '/organizations', { organization_id: organizationId, name: organizationId })
  const terms = { organization_id: organizationId, agent_id: agentId }
  return String((await world.operate('POST', '/invitations', terms)).body['invitation'])
}
