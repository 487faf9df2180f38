import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Queries, Transaction } from '../../db/database.ts'
import { Problem } from '../../kernel/problem.ts'

/** The owner of the table organization_usage: how much of its quotas (O-13) an organization uses. */

export type Quota =
  | 'agents'
  | 'keys_per_agent'
  | 'revocations_per_key'
  | 'unused_policy_receipts'
  | 'stored_bytes'
  | 'receipts_per_state'

/** Throws where one quota would be exceeded. */
export function requireWithin(profile: DeploymentProfile, quota: Quota, wanted: number): void {
  const maximum = profile['O-13'][quota]
  if (wanted > maximum) throw new Problem('quota_reached', { quota, maximum })
}

/** One more agent. The counter's row is locked until the commit, so this quota is exact. */
export async function countAgent(
  tx: Transaction,
  organizationId: string,
  profile: DeploymentProfile,
): Promise<void> {
  const [row] = await tx<{ agents: number }[]>`
    insert into organization_usage as used (organization_id, agents) values (${organizationId}, 1)
    on conflict (organization_id) do update set agents = used.agents + 1
    returning agents`
  requireWithin(profile, 'agents', row?.agents ?? 1)
}

export interface UsageRow {
  readonly agents: number
  readonly policy_receipts: number
  readonly stored_bytes: number
}

export async function readUsage(db: Queries, organizationId: string): Promise<UsageRow> {
  const [row] = await db<UsageRow[]>`
    select agents, policy_receipts, stored_bytes from organization_usage
    where organization_id = ${organizationId}`
  return row ?? { agents: 0, policy_receipts: 0, stored_bytes: 0 }
}

/** Endpoints that count against the quota. */
export async function countEndpoints(db: Queries, organizationId: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from webhook_endpoint
    where organization_id = ${organizationId} and status <> 'deleted'`
  return row?.count ?? 0
}

/** By organization; one that nothing was counted for is missing. */
export async function unusedPolicyReceipts(
  queries: Queries,
  organizations: readonly string[],
): Promise<Map<string, number>> {
  const rows = await queries<{ organization_id: string; policy_receipts: number }[]>`
    select organization_id, policy_receipts from organization_usage
    where organization_id = any(${[...new Set(organizations)]})`
  return new Map(rows.map((row) => [row.organization_id, row.policy_receipts]))
}

/** What a batch adds to an organization's counters, or takes off. */
export interface UsageChange {
  readonly organizationId: string
  readonly policyReceipts?: number
  readonly storedBytes?: number
}

/**
 * Counts a whole batch in one statement, rows locked in one order. It is read before the batch and written with its
 * commit, so batches under way at once may exceed a quota by what they hold.
 */
export async function addUsage(tx: Transaction, changes: readonly UsageChange[]): Promise<void> {
  const rows = [...Map.groupBy(changes, ({ organizationId }) => organizationId)]
  if (rows.length === 0) return
  const sums = (member: 'policyReceipts' | 'storedBytes') =>
    rows.map(([, own]) => String(own.reduce((sum, change) => sum + (change[member] ?? 0), 0)))
  await tx`
    insert into organization_usage as used (organization_id, policy_receipts, stored_bytes)
    select * from unnest(${rows.map(([organizationId]) => organizationId)}::text[],
      ${sums('policyReceipts')}::text[]::bigint[], ${sums('storedBytes')}::text[]::bigint[])
      as change (organization_id, policy_receipts, stored_bytes)
    order by organization_id
    on conflict (organization_id) do update set
      policy_receipts = greatest(0, used.policy_receipts + excluded.policy_receipts),
      stored_bytes = greatest(0, used.stored_bytes + excluded.stored_bytes)`
}
