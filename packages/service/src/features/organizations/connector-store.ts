import type { Queries, Transaction } from '@agent-exchange/database'

export type ConnectorStatus = 'approved' | 'suspended' | 'revoked'

/** Table connector_connection. */
export interface ConnectorRow {
  readonly organization_id: string
  readonly connector_id: string
  readonly participant_id: string
  readonly endpoint: string
  readonly status: ConnectorStatus
  readonly approved_at: string
  readonly updated_at: string
}

export async function findConnector(
  db: Queries,
  organizationId: string,
  connectorId: string,
): Promise<ConnectorRow | undefined> {
  const [row] = await db<ConnectorRow[]>`
    select organization_id, connector_id, participant_id, endpoint, status, approved_at, updated_at
    from connector_connection
    where organization_id = ${organizationId} and connector_id = ${connectorId}`
  return row
}

export async function lockConnector(
  tx: Transaction,
  organizationId: string,
  connectorId: string,
): Promise<ConnectorRow | undefined> {
  const [row] = await tx<ConnectorRow[]>`
    select organization_id, connector_id, participant_id, endpoint, status, approved_at, updated_at
    from connector_connection
    where organization_id = ${organizationId} and connector_id = ${connectorId} for update`
  return row
}

/** Approves a connection, or approves it again with what it is now. */
export async function approveConnector(
  tx: Transaction,
  connector: Omit<ConnectorRow, 'status' | 'approved_at' | 'updated_at'> & { readonly now: string },
): Promise<void> {
  const { organization_id, connector_id, participant_id, endpoint, now } = connector
  await tx`
    insert into connector_connection
      (organization_id, connector_id, participant_id, endpoint, status, approved_at, updated_at)
    values (${organization_id}, ${connector_id}, ${participant_id}, ${endpoint}, 'approved', ${now}, ${now})
    on conflict (organization_id, connector_id) do update set participant_id = excluded.participant_id,
      endpoint = excluded.endpoint, status = 'approved', approved_at = excluded.approved_at,
      updated_at = excluded.updated_at`
}

export async function setConnectorStatus(
  tx: Transaction,
  { organization_id, connector_id }: ConnectorRow,
  { status, now }: { status: ConnectorStatus; now: string },
): Promise<void> {
  await tx`
    update connector_connection set status = ${status}, updated_at = ${now}
    where organization_id = ${organization_id} and connector_id = ${connector_id}`
}

export interface ConnectorPosition {
  readonly organizationId: string
  readonly connectorId: string
}

export async function listConnectors(
  db: Queries,
  {
    organizationId,
    after,
    limit,
  }: { organizationId: string | undefined; after: ConnectorPosition | undefined; limit: number },
): Promise<ConnectorRow[]> {
  return db<ConnectorRow[]>`
    select organization_id, connector_id, participant_id, endpoint, status, approved_at, updated_at
    from connector_connection
    where (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})
      and (organization_id, connector_id) > (${after?.organizationId ?? ''}, ${after?.connectorId ?? ''})
    order by organization_id, connector_id limit ${limit}`
}

/** At most `limit` of them. @returns the number of rows */
export async function removeConnectorsOf(
  tx: Transaction,
  organizationId: string,
  limit: number,
): Promise<number> {
  const { count } = await tx`
    delete from connector_connection where organization_id = ${organizationId} and connector_id in (
      select connector_id from connector_connection where organization_id = ${organizationId} limit ${limit})`
  return count
}
