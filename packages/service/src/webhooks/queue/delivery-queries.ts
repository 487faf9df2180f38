import { fragment, type Fragment, type Queries } from '@agent-exchange/database'
import { startOfIds } from '../../kernel/ids.ts'

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'dead'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** Table delivery, as an operator sees it. */
export interface DeliveryRow {
  readonly delivery_id: string
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly package_id: string
  readonly notification_id: string
  readonly event_id: string
  readonly state: DeliveryState
  readonly attempt: number
  readonly next_attempt_at: string
  /** While an attempt is under way. */
  readonly claim_id: number | null
  readonly created_at: string
  readonly finished_at: string | null
  readonly replay_of: string | null
  readonly replay_actor: string | null
  readonly replay_reason: string | null
}

/** Table delivery_attempt: at most seven a delivery. */
export interface AttemptRow {
  readonly attempt: number
  readonly started_at: string
  readonly outcome: string
  /** JSON text. */
  readonly details: string
}

export interface DeliveryFilter {
  readonly state?: DeliveryState | undefined
  readonly organizationId?: string | undefined
  readonly endpointId?: string | undefined
  /** The first moment that counts, and the first that does not. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export const DELIVERY_COLUMNS = fragment`
  delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id, state, attempt,
  next_attempt_at, claim_id, created_at, finished_at, replay_of, replay_actor, replay_reason`

/** What a filter says beside the state. An id begins with the time of its making. */
export const matching = ({ organizationId, endpointId, since, until }: DeliveryFilter) => fragment`
  ${organizationId === undefined ? fragment`` : fragment`and organization_id = ${organizationId}`}
  ${endpointId === undefined ? fragment`` : fragment`and webhook_endpoint_id = ${endpointId}`}
  ${since === undefined ? fragment`` : fragment`and delivery_id >= ${startOfIds('dlv', since)}`}
  ${until === undefined ? fragment`` : fragment`and delivery_id < ${startOfIds('dlv', until)}`}`

/** As literals: the planner cannot match a parameter with the condition of a partial index. */
const IN_STATE = {
  pending: fragment`state = 'pending'`,
  delivered: fragment`state = 'delivered'`,
  failed: fragment`state in ('failed', 'dead') and state = 'failed'`,
  dead: fragment`state in ('failed', 'dead') and state = 'dead'`,
} as const satisfies Record<DeliveryState, Fragment>
const IN_TROUBLE = fragment`state in ('failed', 'dead')`

interface Page {
  readonly after: string | undefined
  readonly limit: number
}

/** The newest first. */
export async function listDeliveries(
  db: Queries,
  filter: DeliveryFilter,
  page: Page,
): Promise<DeliveryRow[]> {
  const { state, organizationId, endpointId } = filter
  const isOfEndpoints = organizationId !== undefined || endpointId !== undefined
  if (isOfEndpoints) return db.byIndex<DeliveryRow[]>`${newestOfEndpoints(filter, page)}`
  return db.byIndex<
    DeliveryRow[]
  >`${newest(state === undefined ? fragment`true` : IN_STATE[state], filter, page)}`
}

function newest(inState: Fragment, filter: DeliveryFilter, { after, limit }: Page): Fragment {
  return fragment`
    select ${DELIVERY_COLUMNS} from delivery
    where ${inState} ${matching(filter)} ${after === undefined ? fragment`` : fragment`and delivery_id < ${after}`}
    order by delivery_id desc limit ${limit}`
}

/**
 * A page of each endpoint, and of these the newest: the deliveries of an endpoint that has few are not searched for
 * among those of the others. Each group of states has its own index by endpoint.
 */
function newestOfEndpoints(filter: DeliveryFilter, page: Page): Fragment {
  const { state, organizationId, endpointId, since, until } = filter
  const groups = state === undefined ? [IN_STATE.pending, IN_STATE.delivered, IN_TROUBLE] : [IN_STATE[state]]
  const pages = groups
    .map((inState) => fragment`webhook_endpoint_id = endpoint.webhook_endpoint_id and ${inState}`)
    .map((inGroup) => fragment`(${newest(inGroup, { since, until }, page)})`)
    .reduce((all, next) => fragment`${all} union all ${next}`)
  return fragment`
    select each.* from (${endpointsOf({ organizationId, endpointId })}) as endpoint cross join lateral (${pages}) as each
    order by delivery_id desc limit ${page.limit}`
}

/** Those that are in use and those that were deleted are indexed apart. */
function endpointsOf({ organizationId, endpointId }: DeliveryFilter): Fragment {
  const byId = endpointId === undefined ? fragment`` : fragment`and webhook_endpoint_id = ${endpointId}`
  if (organizationId === undefined)
    return fragment`select webhook_endpoint_id from webhook_endpoint where true ${byId}`
  const ofOrganization = fragment`
    select webhook_endpoint_id from webhook_endpoint where organization_id = ${organizationId} ${byId}`
  return fragment`${ofOrganization} and status <> 'deleted' union all ${ofOrganization} and status = 'deleted'`
}

export async function findDelivery(db: Queries, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await db<DeliveryRow[]>`
    select ${DELIVERY_COLUMNS} from delivery where delivery_id = ${id}`
  return row
}

export async function attemptsOf(db: Queries, id: string): Promise<AttemptRow[]> {
  return db<AttemptRow[]>`
    select attempt, started_at, outcome, details from delivery_attempt
    where delivery_id = ${id} order by attempt`
}

/** Deliveries that repeat this one on an operator's word. */
export async function replaysOf(db: Queries, id: string, limit: number): Promise<DeliveryRow[]> {
  return db<DeliveryRow[]>`
    select ${DELIVERY_COLUMNS} from delivery where replay_of = ${id}
    order by delivery_id limit ${limit}`
}
