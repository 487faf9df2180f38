import type { AgentRegistration, TransportMode } from '@agent-exchange/protocol'
import type { Queries, Transaction } from '@agent-exchange/database'

/** Table agent. */
export interface AgentRow {
  readonly agent_id: string
  readonly organization_id: string
  readonly implementation: string
  readonly implementation_version: string
  readonly protocol_versions: string[]
  /** JSON text of the map as registered. */
  readonly skill_versions: string
  readonly transport_modes: TransportMode[]
  readonly status: string
  readonly certification_status: string
  readonly registered_at: string
}

export interface NewAgent {
  readonly registration: Omit<AgentRegistration, 'keys'>
  readonly status: string
  readonly certificationStatus: string
  readonly now: string
}

export async function findAgent(db: Queries, agentId: string): Promise<AgentRow | undefined> {
  const [row] = await db<AgentRow[]>`
    select agent_id, organization_id, implementation, implementation_version, protocol_versions, skill_versions,
      transport_modes, status, certification_status, registered_at
    from agent where agent_id = ${agentId}`
  return row
}

/** Maps agent ids to statuses. */
export async function agentStatuses(
  queries: Queries,
  agentIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await queries<{ agent_id: string; status: string }[]>`
    select agent_id, status from agent where agent_id = any(${[...new Set(agentIds)]})`
  return new Map(rows.map((row) => [row.agent_id, row.status]))
}

/** Like findAgent, but locks the agent and its set of keys against concurrent changes. */
export async function lockAgent(tx: Transaction, agentId: string): Promise<AgentRow | undefined> {
  const [row] = await tx<AgentRow[]>`
    select agent_id, organization_id, implementation, implementation_version, protocol_versions, skill_versions,
      transport_modes, status, certification_status, registered_at
    from agent where agent_id = ${agentId} for no key update`
  return row
}

/** False if the id is taken. Waits for a concurrent registration. */
export async function insertAgent(tx: Transaction, agent: NewAgent): Promise<boolean> {
  const { registration: body, status, certificationStatus, now } = agent
  const rows = await tx`
    insert into agent (agent_id, organization_id, implementation, implementation_version, protocol_versions,
      skill_versions, transport_modes, status, certification_status, registered_at, updated_at)
    values (${body.agent_id}, ${body.organization_id}, ${body.implementation}, ${body.implementation_version},
      ${body.protocol_versions}, ${JSON.stringify(body.skill_versions)}, ${body.transport_modes}, ${status},
      ${certificationStatus}, ${now}, ${now})
    on conflict (agent_id) do nothing returning agent_id`
  return rows.length > 0
}

export async function updateAgent(tx: Transaction, body: AgentRegistration, now: string): Promise<void> {
  await tx`
    update agent set implementation = ${body.implementation},
      implementation_version = ${body.implementation_version}, protocol_versions = ${body.protocol_versions},
      skill_versions = ${JSON.stringify(body.skill_versions)}, transport_modes = ${body.transport_modes},
      updated_at = ${now}
    where agent_id = ${body.agent_id}`
}

/** False if there is no such agent. */
export async function setAgentStatus(
  tx: Transaction,
  agentId: string,
  { status, certificationStatus, now }: { status?: string; certificationStatus?: string; now: string },
): Promise<boolean> {
  const rows = await tx`
    update agent set status = coalesce(${status ?? null}, status),
      certification_status = coalesce(${certificationStatus ?? null}, certification_status), updated_at = ${now}
    where agent_id = ${agentId} returning agent_id`
  return rows.length > 0
}

/** At most `limit` of those that are not retired. @returns the number of rows */
export async function retireAgentsOf(
  tx: Transaction,
  organizationId: string,
  { now, limit }: { now: string; limit: number },
): Promise<number> {
  const { count } = await tx`
    update agent set status = 'retired', updated_at = ${now} where agent_id in (
      select agent_id from agent where organization_id = ${organizationId} and status <> 'retired' limit ${limit})`
  return count
}

export async function listAgents(
  db: Queries,
  {
    organizationId,
    after,
    limit,
  }: { organizationId: string | undefined; after: string | undefined; limit: number },
): Promise<AgentRow[]> {
  return db<AgentRow[]>`
    select agent_id, organization_id, implementation, implementation_version, protocol_versions, skill_versions,
      transport_modes, status, certification_status, registered_at
    from agent
    where (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})
      and agent_id > ${after ?? ''}
    order by agent_id limit ${limit}`
}
