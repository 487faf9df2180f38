import type { Queries } from '../db/database.ts'

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

interface DeliveryFilter {
  readonly state: DeliveryState | undefined
  readonly organizationId: string | undefined
  readonly after: DeliveryPosition | undefined
  readonly limit: number
}

/** The newest first. */
export async function listDeliveries(
  db: Queries,
  { state, organizationId, after, limit }: DeliveryFilter,
): Promise<DeliveryRow[]> {
  return db<DeliveryRow[]>`
    select delivery_id, webhook_endpoint_id, organization_id, notification_id, event_id, state, attempt,
      next_attempt_at, created_at, finished_at, replay_of, replay_actor, replay_reason
    from delivery
    where true ${state === undefined ? db`` : db`and state = ${state}`}
      ${organizationId === undefined ? db`` : db`and organization_id = ${organizationId}`}
      ${after === undefined ? db`` : db`and (created_at, delivery_id) < (${after.createdAt}, ${after.deliveryId})`}
    order by created_at desc, delivery_id desc limit ${limit}`
}

export async function findDelivery(db: Queries, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await db<DeliveryRow[]>`
    select delivery_id, webhook_endpoint_id, organization_id, notification_id, event_id, state, attempt,
      next_attempt_at, created_at, finished_at, replay_of, replay_actor, replay_reason
    from delivery where delivery_id = ${id}`
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
    select delivery_id, webhook_endpoint_id, organization_id, notification_id, event_id, state, attempt,
      next_attempt_at, created_at, finished_at, replay_of, replay_actor, replay_reason
    from delivery
    where notification_id = (select notification_id from delivery where delivery_id = ${id}) and replay_of = ${id}
    order by created_at, delivery_id limit ${limit}`
}
