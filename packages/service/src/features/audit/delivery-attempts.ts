import type { PackageEvidence } from '@agent-exchange/protocol'
import type { Queries } from '@agent-exchange/database'
import { listed, type Listed, type Mark, type Paging } from './evidence-page.ts'

interface AttemptRow {
  readonly delivery_id: string
  readonly attempt: number
  readonly started_at: string
  readonly outcome: string
}

type Attempt = PackageEvidence['delivery_attempts'][number]

/** Delivery attempts to the caller's own endpoints. Those of the counterparty are private to it. */
export async function attemptsOf(
  db: Queries,
  { packageId, organizationId }: { readonly packageId: string; readonly organizationId: string },
  paging: Paging,
): Promise<Listed<Attempt, Mark>> {
  const [time, rest] = paging.mark
  const [deliveryId = '', attempt = '0'] = rest.split(':')
  const rows = await db.byIndex<AttemptRow[]>`
    select delivery_id, delivery_attempt.attempt, started_at, outcome
    from delivery join delivery_attempt using (delivery_id)
    where package_id = ${packageId} and organization_id = ${organizationId}
      and (started_at, delivery_id, delivery_attempt.attempt) > (${time}::timestamptz, ${deliveryId}, ${attempt}::integer)
    order by started_at, delivery_id, delivery_attempt.attempt limit ${paging.limit + 1}`
  return listed(rows, paging, {
    item: ({ delivery_id, attempt: number, started_at, outcome }) => ({
      delivery_id,
      attempt: number,
      attempted_at: started_at,
      outcome,
    }),
    markOf: (row) => [row.started_at, `${row.delivery_id}:${row.attempt}`],
  })
}
