import type { Queries } from '@agent-exchange/database'
import type { AddressBook } from '@agent-exchange/log'
import type { TrustOverrides } from '@agent-exchange/protocol'
import type { SendDefaults } from '@agent-exchange/sdk'

/** Owner of the table gateway_agent. */

/** Agents that one gateway runs. */
const MAXIMUM_AGENTS = 1_000

export interface RegisteredAgent {
  readonly agentId: string
  readonly organizationId: string
  readonly baseUrl: string
  readonly clientId: string
  readonly settings: AgentSettings
}

export interface AgentSettings {
  readonly defaults?: SendDefaults
  readonly trust?: TrustOverrides
  /** Log keys and witnesses that the agent trusts, as text (C2SP tlog-policy). */
  readonly logPolicy?: string
  /** Names that people of the company gave to organizations. */
  readonly names?: AddressBook
}

interface AgentRow {
  readonly agent_id: string
  readonly organization_id: string
  readonly base_url: string
  readonly client_id: string
  readonly settings: string
}

/** Adds an agent, or changes where and as which client it connects. */
export async function saveAgent(db: Queries, agent: RegisteredAgent, addedAt: string): Promise<void> {
  const { agentId, organizationId, baseUrl, clientId, settings } = agent
  await db`
    insert into gateway_agent (agent_id, organization_id, base_url, client_id, settings, added_at)
    values (${agentId}, ${organizationId}, ${baseUrl}, ${clientId}, ${JSON.stringify(settings)}, ${addedAt})
    on conflict (agent_id) do update set base_url = excluded.base_url, client_id = excluded.client_id,
      settings = excluded.settings`
}

/** An agent whose client is not registered yet has an empty client id and does not run. */
export async function listAgents(db: Queries): Promise<RegisteredAgent[]> {
  const rows = await db<AgentRow[]>`
    select agent_id, organization_id, base_url, client_id, settings from gateway_agent
    order by agent_id limit ${MAXIMUM_AGENTS}`
  return rows.map((row) => ({
    agentId: row.agent_id,
    organizationId: row.organization_id,
    baseUrl: row.base_url,
    clientId: row.client_id,
    settings: JSON.parse(row.settings) as AgentSettings,
  }))
}

/** Changes the settings of every agent. Returns how many there are. */
export async function changeSettings(
  tx: Queries,
  change: (settings: AgentSettings) => AgentSettings,
): Promise<number> {
  const rows = await tx<Pick<AgentRow, 'agent_id' | 'settings'>[]>`
    select agent_id, settings from gateway_agent order by agent_id limit ${MAXIMUM_AGENTS} for update`
  for (const { agent_id, settings } of rows) {
    const changed = JSON.stringify(change(JSON.parse(settings) as AgentSettings))
    await tx`update gateway_agent set settings = ${changed} where agent_id = ${agent_id}`
  }
  return rows.length
}
