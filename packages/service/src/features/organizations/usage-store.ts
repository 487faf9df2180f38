import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Queries, Transaction } from '@agent-exchange/database'
import { Problem } from '../../kernel/problem.ts'
import { columnsOf } from '../../kernel/row-columns.ts'

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

export interface UsageRow extends DayUsage {
  readonly agents: number
  readonly policy_receipts: number
  readonly stored_bytes: number
}

/** What an organization sent on a UTC day, without responses. */
export interface DayUsage {
  /** Such as `2026-03-02`; null if nothing was counted yet. */
  readonly usage_day: string | null
  readonly packages_of_day: number
  readonly threads_of_day: number
}

/** The UTC day of an instant, by which quotas of a day are counted. */
export const dayOf = (now: string): string => now.slice(0, 10)

/** Nothing counts before the day began. A clock that is behind counts for the later day. */
export function usageOn(day: string, usage: DayUsage | undefined): DayUsage {
  return usage?.usage_day && usage.usage_day >= day
    ? usage
    : { usage_day: day, packages_of_day: 0, threads_of_day: 0 }
}

export async function readUsage(db: Queries, organizationId: string): Promise<UsageRow> {
  const [row] = await db<UsageRow[]>`
    select agents, policy_receipts, stored_bytes, usage_day::text as usage_day, packages_of_day, threads_of_day
    from organization_usage where organization_id = ${organizationId}`
  return (
    row ?? {
      agents: 0,
      policy_receipts: 0,
      stored_bytes: 0,
      usage_day: null,
      packages_of_day: 0,
      threads_of_day: 0,
    }
  )
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
  /** Sent packages and new threads, and the day on which they count. */
  readonly sent?: { readonly day: string; readonly packages: number; readonly threads: number }
}

/**
 * Counts a whole batch in one statement, rows locked in one order. It is read before the batch and written with its
 * commit, so batches under way at once may exceed a quota by what they hold. Counters of a day begin again with it.
 */
export async function addUsage(tx: Transaction, changes: readonly UsageChange[]): Promise<void> {
  if (changes.length === 0) return
  const column = columnsOf([...Map.groupBy(changes, ({ organizationId }) => organizationId)].map(sumOf))
  await tx`
    insert into organization_usage as used
      (organization_id, policy_receipts, stored_bytes, usage_day, packages_of_day, threads_of_day)
    select organization_id, policy_receipts::bigint, stored_bytes::bigint, nullif(day, '')::date, packages::bigint,
      threads::bigint
    from (select ${column.separator}::text as mark) as sent, unnest(
      string_to_array(${column('organization_id')}, mark), string_to_array(${column('policy_receipts')}, mark),
      string_to_array(${column('stored_bytes')}, mark), string_to_array(${column('day')}, mark),
      string_to_array(${column('packages')}, mark), string_to_array(${column('threads')}, mark))
      as change (organization_id, policy_receipts, stored_bytes, day, packages, threads)
    order by organization_id
    on conflict (organization_id) do update set
      policy_receipts = greatest(0, used.policy_receipts + excluded.policy_receipts),
      stored_bytes = greatest(0, used.stored_bytes + excluded.stored_bytes),
      usage_day = greatest(used.usage_day, excluded.usage_day),
      packages_of_day = excluded.packages_of_day
        + case when excluded.usage_day > used.usage_day then 0 else used.packages_of_day end,
      threads_of_day = excluded.threads_of_day
        + case when excluded.usage_day > used.usage_day then 0 else used.threads_of_day end`
}

/** The changes of one organization as one row. The latest day counts. */
function sumOf([organizationId, changes]: readonly [string, readonly UsageChange[]]) {
  const sum = (count: (change: UsageChange) => number | undefined) =>
    changes.reduce((total, change) => total + (count(change) ?? 0), 0)
  const days = changes.flatMap(({ sent }) => sent?.day ?? [])
  return {
    organization_id: organizationId,
    policy_receipts: sum((change) => change.policyReceipts),
    stored_bytes: sum((change) => change.storedBytes),
    day: days.toSorted().at(-1) ?? null,
    packages: sum((change) => change.sent?.packages),
    threads: sum((change) => change.sent?.threads),
  }
}
