import type { Queries } from '@agent-exchange/database'
import type { OrganizationRow } from './organization-store.ts'
import { readUsage } from './usage-store.ts'

/** Large numbers are counted up to here. */
const MAXIMUM_COUNTED = 10_000

export interface PlannedRemoval {
  readonly what: string
  readonly count: number
  /** There are more than `count`. */
  readonly or_more?: true
  readonly how: string
}

export interface Retained {
  readonly what: string
  readonly count?: number
  readonly why: string
}

export interface EndPlan {
  readonly removed: readonly PlannedRemoval[]
  readonly retained: readonly Retained[]
}

/** What the end of an organization removes, and what has to stay and why. Changes nothing. */
export async function planEnd(
  db: Queries,
  { organization_id: id, contact }: Pick<OrganizationRow, 'organization_id' | 'contact'>,
): Promise<EndPlan> {
  const [counts, usage] = await Promise.all([countsOf(db, id), readUsage(db, id)])
  const address = {
    what: 'contact',
    count: contact === null ? 0 : 1,
    how: 'The mail address for alerts is removed.',
  }
  return { removed: [...removalsOf(counts), address], retained: retainedOf(counts, usage.stored_bytes) }
}

interface Counts {
  readonly clients: number
  readonly invitations: number
  readonly connectors: number
  readonly sender_rules: number
  readonly endpoints: number
  readonly deliveries: number
  readonly alerts: number
  readonly notifications: number
  readonly idempotency_records: number
  readonly agents: number
  readonly agent_keys: number
}

async function countsOf(db: Queries, id: string): Promise<Counts> {
  const limit = MAXIMUM_COUNTED + 1
  const [row] = await db.byIndex<Counts[]>`
    select
      (select count(*) from oauth_client where organization_id = ${id}) as clients,
      (select count(*) from invitation where organization_id = ${id}) as invitations,
      (select count(*) from connector_connection where organization_id = ${id}) as connectors,
      (select count(*) from sender_rule where organization_id = ${id}) as sender_rules,
      (select count(*) from webhook_endpoint where organization_id = ${id} and status <> 'deleted') as endpoints,
      (select count(*) from (
        select from webhook_endpoint as endpoint cross join lateral (
          (select delivery_id from delivery where webhook_endpoint_id = endpoint.webhook_endpoint_id
            and state = 'pending' limit ${limit})
          union all (select delivery_id from delivery where webhook_endpoint_id = endpoint.webhook_endpoint_id
            and state = 'delivered' limit ${limit})
          union all (select delivery_id from delivery where webhook_endpoint_id = endpoint.webhook_endpoint_id
            and state in ('failed', 'dead') limit ${limit})) as own
        where endpoint.organization_id = ${id} limit ${limit}) as counted) as deliveries,
      (select count(*) from (
        select from alert where organization_id = ${id} limit ${limit}) as counted) as alerts,
      (select count(*) from (
        select from notification where organization_id = ${id} limit ${limit}) as counted) as notifications,
      (select count(*) from (
        select from idempotency_record where organization_id = ${id} limit ${limit}) as counted)
        as idempotency_records,
      (select count(*) from agent where organization_id = ${id}) as agents,
      (select count(*) from agent join agent_key using (agent_id) where organization_id = ${id}) as agent_keys`
  if (!row) throw new Error('counts of an organization are always one row')
  return row
}

function removalsOf(counts: Counts): PlannedRemoval[] {
  const one = (what: keyof Counts, how: string): PlannedRemoval => {
    const count = Math.min(counts[what], MAXIMUM_COUNTED)
    return { what, count, ...(counts[what] > MAXIMUM_COUNTED && { or_more: true as const }), how }
  }
  return [
    one('clients', 'Deleted with their credentials. Access ends at once.'),
    one('invitations', 'Deleted. Unused ones stop working at once.'),
    one('connectors', 'Deleted. Transfers through them are refused at once.'),
    one('sender_rules', 'Deleted: whose packages it accepted or blocked.'),
    one('endpoints', 'Marked as deleted, and their addresses are removed.'),
    one('deliveries', 'Deleted with their attempts. Pending ones are not sent.'),
    one('alerts', 'Deleted.'),
    one('notifications', 'Deleted from the stream of the organization.'),
    one('idempotency_records', 'Deleted.'),
  ]
}

function retainedOf({ agents, agent_keys }: Counts, storedBytes: number): Retained[] {
  return [
    {
      what: 'organization id and name',
      why: 'Evidence of other organizations names them. The id is never given to anyone else.',
    },
    { what: 'agents', count: agents, why: 'Evidence names them. They are retired and receive nothing.' },
    {
      what: 'public keys and their history',
      count: agent_keys,
      why: 'Other parties verify with them what was signed before the end.',
    },
    {
      what: 'packages without content, receipts, revocations, audit chains',
      why: 'They are the evidence of the other party as well. The database refuses to change them.',
    },
    {
      what: 'leaves of the transparency log',
      why: 'The log is append-only and published. Its leaves are salted hashes and reveal nothing.',
    },
    {
      what: 'bytes of sealed content that it sent',
      count: storedBytes,
      why: 'Recipients may open it until it expires; retention deletes it then. The exchange cannot read it.',
    },
    { what: 'operator log', why: 'It shows who changed what, also this end.' },
  ]
}
