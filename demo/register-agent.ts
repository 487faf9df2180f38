import type { DataSpace } from '@agent-exchange/sdk'
import {
  connectFolder,
  createAgentFolder,
  setExchangeAccess,
  type FolderAgent,
} from '@agent-exchange/sdk/node'
import type { DemoExchange } from './demo-exchange.ts'
import { LANE_NAMES, type Side, type Timeline } from './timeline.ts'

export const SKILL = { id: 'skill_alignment', version: '1.0.0' }

export interface Registration {
  readonly lane: Side
  readonly organizationId: string
  readonly agentId: string
  readonly folder: string
  readonly timeline: Timeline
  readonly dataSpace?: DataSpace
}

/** The two companies, without what each demo adds. */
export const COMPANIES = {
  manufacturer: { lane: 'manufacturer', organizationId: 'org_carmaker', agentId: 'agent_carmaker_planner' },
  supplier: { lane: 'supplier', organizationId: 'org_seats', agentId: 'agent_seats_planner' },
} as const

/** Creates an organization with an agent in a folder, and registers the agent's public keys. */
export async function registerAgent(
  exchange: DemoExchange,
  { lane, organizationId, agentId, folder, timeline, dataSpace }: Registration,
): Promise<FolderAgent> {
  const { made } = await createAgentFolder(folder, { identity: { organizationId, agentId } })
  await exchange.operate('/organizations', { organization_id: organizationId, name: LANE_NAMES[lane] })
  const client = await exchange.operate('/clients', {
    organization_id: organizationId,
    agent_id: agentId,
    public_jwk: made.client.publicJwk,
  })
  await setExchangeAccess(folder, { baseUrl: exchange.url, clientId: String(client['client_id']) })
  const agent = await connectFolder(folder, dataSpace ? { dataSpace } : {})
  await agent.register({
    implementation: 'agent-exchange demo',
    implementationVersion: '1',
    skillVersions: { [SKILL.id]: SKILL.version },
    transportModes: dataSpace ? ['native', 'ds_x'] : ['native'],
  })
  timeline.add({
    who: lane,
    to: 'exchange',
    kind: 'note',
    what: 'registers its public keys',
    detail: `${agentId}  fingerprint ${(await agent.fingerprint()).slice(0, 12)}…`,
  })
  return agent
}
