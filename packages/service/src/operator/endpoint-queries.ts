import type { Queries, Transaction } from '../db/database.ts'

export type EndpointStatus = 'active' | 'disabled' | 'deleted'

/** Table webhook_endpoint, as an operator sees it. Agents register endpoints; operators only move them. */
export interface EndpointRow {
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly url: string
  readonly event_types: string[]
  readonly signing_key_id: string
  readonly status: EndpointStatus
  readonly status_reason: string | null
  readonly created_at: string
  readonly updated_at: string
}

export async function listEndpoints(
  db: Queries,
  {
    organizationId,
    after,
    limit,
  }: { organizationId: string | undefined; after: string | undefined; limit: number },
): Promise<EndpointRow[]> {
  return db<EndpointRow[]>`
    select webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, status_reason,
      created_at, updated_at
    from webhook_endpoint
    where (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})
      and webhook_endpoint_id > ${after ?? ''}
    order by webhook_endpoint_id limit ${limit}`
}

export async function lockEndpoint(tx: Transaction, id: string): Promise<EndpointRow | undefined> {
  const [row] = await tx<EndpointRow[]>`
    select webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, status_reason,
      created_at, updated_at
    from webhook_endpoint where webhook_endpoint_id = ${id} for update`
  return row
}

export async function setEndpointStatus(
  tx: Transaction,
  id: string,
  { status, reason, now }: { status: EndpointStatus; reason: string | null; now: string },
): Promise<void> {
  await tx`
    update webhook_endpoint set status = ${status}, status_reason = ${reason}, updated_at = ${now}
    where webhook_endpoint_id = ${id}`
}
