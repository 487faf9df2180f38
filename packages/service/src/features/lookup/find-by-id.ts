import { fragment, type Queries } from '@agent-exchange/database'
import { startOfIds, timeOfId } from '../../kernel/ids.ts'

export type FoundKind =
  | 'organization'
  | 'agent'
  | 'client'
  | 'thread'
  | 'package'
  | 'package_receipt'
  | 'policy_receipt'
  | 'correlation_id'
  | 'event'
  | 'notification'
  | 'delivery'
  | 'webhook_endpoint'
  | 'platform_key'

/** Something that has the id, and where it belongs. */
export interface Found {
  readonly kind: FoundKind
  readonly id: string
  readonly organization_id: string | null
  readonly package_id: string | null
  readonly thread_id: string | null
}

/** An id that callers choose may name several things, such as a correlation id that is used for every request. */
const MAXIMUM_FOUND = 20

/** Every object with this id, whatever its kind. Each part of the statement is a lookup by index. */
export async function findById(db: Queries, id: string): Promise<Found[]> {
  return db.byIndex<Found[]>`
    select 'organization' as kind, organization_id as id, organization_id, null as package_id, null as thread_id
    from organization where organization_id = ${id}
    union all
    select 'agent', agent_id, organization_id, null, null from agent where agent_id = ${id}
    union all
    select 'client', client_id, organization_id, null, null from oauth_client where client_id = ${id}
    union all
    (${clientsWithKey(id)} limit ${MAXIMUM_FOUND})
    union all
    select 'thread', thread_id, null, null, thread_id from thread where thread_id = ${id}
    union all
    select 'package', package_id, sender_org_id, package_id, thread_id from package where package_id = ${id}
    union all
    select 'policy_receipt', policy_receipt_id, sender_org_id, package_id, thread_id
    from policy_receipt where policy_receipt_id = ${id}
    union all
    select 'webhook_endpoint', webhook_endpoint_id, organization_id, null, null
    from webhook_endpoint where webhook_endpoint_id = ${id}
    union all
    select 'platform_key', key_id, null, null, null from platform_key where key_id = ${id}
    union all
    select 'delivery', delivery_id, organization_id, package_id, null from delivery where delivery_id = ${id}
    union all
    select 'notification', notification_id, organization_id, package_id, null
    from notification where notification_id = ${id}
    union all
    (${receiptsWith(id)} limit ${MAXIMUM_FOUND})
    union all
    (${packagesOfRequest(id)} limit ${MAXIMUM_FOUND})
    union all
    ${event(id)}`
}

/** By the RFC 7638 thumbprint of the client's key. */
const clientsWithKey = (thumbprint: string) => fragment`
  select 'client', client_id, organization_id, null, null from oauth_client where key_thumbprint = ${thumbprint}`

const receiptsWith = (id: string) => fragment`
  select 'package_receipt', receipt_id, null, package_id, null from package_receipt where receipt_id = ${id}`

/** The correlation id of the request that submitted the package. */
const packagesOfRequest = (id: string) => fragment`
  select 'correlation_id', correlation_id, sender_org_id, package_id, thread_id
  from package where correlation_id = ${id}`

/** The ids of an event and of its notifications begin with the same time, so the event needs no index. */
function event(id: string) {
  const time = timeOfId('evt', id)
  const [from, until] =
    time === undefined
      ? ['', '']
      : [startOfIds('ntf', time), startOfIds('ntf', new Date(Date.parse(time) + 1).toISOString())]
  return fragment`
    (select 'event', event_id, organization_id, package_id, null from notification
    where notification_id >= ${from} and notification_id < ${until} and event_id = ${id} limit ${MAXIMUM_FOUND})`
}
