import type { Queries } from '../../db/database.ts'

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'dead'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** Table delivery, as an operator sees it. */
export interface DeliveryRow {
  readonly delivery_id: string
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly notification_id: string
  readonly event_id: string
  readonly state: DeliveryState
  readonly attempt: number
  readonly next_attempt_at: string
  readonly leased_until: string | null
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

export interface DeliveryPosition {
  readonly createdAt: string
  readonly deliveryId: string
}

export interface DeliveryFilter {
  readonly state?: DeliveryState | undefined
  readonly organizationId?: string | undefined
  readonly endpointId?: string | undefined
  /** The first moment that counts, and the first that does not. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export const deliveryColumns = (db: Queries) => db`
  delivery_id, webhook_endpoint_id, organization_id, notification_id, event_id, state, attempt, next_attempt_at,
  leased_until, created_at, finished_at, replay_of, replay_actor, replay_reason`

/** What a filter says beside the state. */
export const matching = (db: Queries, { organizationId, endpointId, since, until }: DeliveryFilter) => db`
  ${organizationId === undefined ? db`` : db`and organization_id = ${organizationId}`}
  ${endpointId === undefined ? db`` : db`and webhook_endpoint_id = ${endpointId}`}
  ${since === undefined ? db`` : db`and created_at >= ${since}`}
  ${until === undefined ? db`` : db`and created_at < ${until}`}`

/** As literals: the planner cannot match a parameter with the condition of a partial index. */
const BRANCHES = {
  // Waiting and under way are indexed apart; one statement for both, so that none is seen twice or missed.
  pending: [
    (db: Queries) =>
      db`(state = 'pending' and leased_until is null or state = 'pending' and leased_until is not null)`,
  ],
  delivered: [(db: Queries) => db`state = 'delivered'`],
  failed: [(db: Queries) => db`state in ('failed', 'dead') and state = 'failed'`],
  dead: [(db: Queries) => db`state in ('failed', 'dead') and state = 'dead'`],
} as const
const ALL_BRANCHES = [
  ...BRANCHES.pending,
  ...BRANCHES.delivered,
  (db: Queries) => db`state in ('failed', 'dead')`,
]

/** The newest first. Each group of states has its own index; what they give is merged here. */
export async function listDeliveries(
  db: Queries,
  filter: DeliveryFilter,
  { after, limit }: { after: DeliveryPosition | undefined; limit: number },
): Promise<DeliveryRow[]> {
  const branches = filter.state === undefined ? ALL_BRANCHES : BRANCHES[filter.state]
  const pages = await Promise.all(
    branches.map(
      (inState) => db<DeliveryRow[]>`
        select ${deliveryColumns(db)} from delivery
        where ${inState(db)} ${matching(db, filter)}
          ${after === undefined ? db`` : db`and (created_at, delivery_id) < (${after.createdAt}, ${after.deliveryId})`}
        order by created_at desc, delivery_id desc limit ${limit}`,
    ),
  )
  return pages.flat().toSorted(newestFirst).slice(0, limit)
}

function newestFirst(a: DeliveryRow, b: DeliveryRow): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? 1 : -1
  return a.delivery_id < b.delivery_id ? 1 : -1
}

export async function findDelivery(db: Queries, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await db<DeliveryRow[]>`
    select ${deliveryColumns(db)} from delivery where delivery_id = ${id}`
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
    select ${deliveryColumns(db)} from delivery where replay_of = ${id}
    order by created_at, delivery_id limit ${limit}`
}
