import type { Queries, Transaction } from '@agent-exchange/database'

/** Number of removed rows by kind. */
export type RemovedCounts = Readonly<Record<string, number>>

/** Table organization_end. */
export interface OrganizationEndRow {
  readonly organization_id: string
  readonly started_at: string
  readonly started_by: string
  readonly reason: string
  /** JSON text of RemovedCounts. */
  readonly removed: string
  readonly finished_at: string | null
}

export async function insertEnd(
  tx: Transaction,
  end: { organizationId: string; startedBy: string; reason: string; now: string },
): Promise<void> {
  await tx`
    insert into organization_end (organization_id, started_at, started_by, reason)
    values (${end.organizationId}, ${end.now}, ${end.startedBy}, ${end.reason})`
}

export async function findEnd(db: Queries, organizationId: string): Promise<OrganizationEndRow | undefined> {
  const [row] = await db<OrganizationEndRow[]>`
    select organization_id, started_at, started_by, reason, removed, finished_at
    from organization_end where organization_id = ${organizationId}`
  return row
}

/** One step at a time for each organization; another process that tries meanwhile gets undefined. */
export async function lockUnfinishedEnd(
  tx: Transaction,
  organizationId: string,
): Promise<OrganizationEndRow | undefined> {
  const [row] = await tx<OrganizationEndRow[]>`
    select organization_id, started_at, started_by, reason, removed, finished_at
    from organization_end where organization_id = ${organizationId} and finished_at is null
    for update skip locked`
  return row
}

export async function listUnfinishedEnds(db: Queries, limit: number): Promise<string[]> {
  const rows = await db<{ organization_id: string }[]>`
    select organization_id from organization_end where finished_at is null
    order by organization_id limit ${limit}`
  return rows.map(({ organization_id }) => organization_id)
}

export async function recordStep(
  tx: Transaction,
  organizationId: string,
  { removed, finishedAt }: { removed: RemovedCounts; finishedAt: string | undefined },
): Promise<void> {
  await tx`
    update organization_end set removed = ${JSON.stringify(removed)}, finished_at = ${finishedAt ?? null}
    where organization_id = ${organizationId}`
}

export function toEnd({ removed, finished_at, ...end }: OrganizationEndRow) {
  return {
    ...end,
    removed: JSON.parse(removed) as RemovedCounts,
    state: finished_at === null ? ('removing' as const) : ('finished' as const),
    ...(finished_at !== null && { finished_at }),
  }
}
