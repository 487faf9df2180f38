import type { Database } from '@agent-exchange/database'
import { orderedId } from '../../../packages/service/src/kernel/ids.ts'
import { freshId } from '../samples/package-parts.ts'

type Row = Readonly<Record<string, unknown>>

/** The rows of one real event of an organization: its notification, and a delivery for each endpoint. */
export interface EventTemplate {
  readonly organizationId: string
  readonly notification: Row
  readonly deliveries: readonly Row[]
}

export interface NewEvents {
  readonly notifications: readonly Row[]
  readonly deliveries: readonly Row[]
}

/** The latest rows of each organization. */
export async function readTemplates(
  db: Database,
  organizations: readonly string[],
): Promise<EventTemplate[]> {
  const rows = await db<{ organization_id: string; notification: string; deliveries: string }[]>`
    select distinct on (organization_id) organization_id, row_to_json(notification)::text as notification, (
      select coalesce(json_agg(delivery), '[]')::text from delivery
      where delivery.package_id = notification.package_id
        and delivery.notification_id = notification.notification_id) as deliveries
    from notification where organization_id = any(${[...organizations]})
    order by organization_id, sequence desc`
  return rows.map(({ organization_id, notification, deliveries }) => ({
    organizationId: organization_id,
    notification: JSON.parse(notification) as Row,
    deliveries: JSON.parse(deliveries) as Row[],
  }))
}

/** Continues the sequence of each organization. */
export function eventMaker(templates: readonly EventTemplate[]) {
  const last = new Map(
    templates.map(({ organizationId, notification }) => [organizationId, Number(notification['sequence'])]),
  )
  /** The next event of an organization, at this time. */
  return (template: EventTemplate, at: Date): NewEvents => {
    const sequence = (last.get(template.organizationId) ?? 0) + 1
    last.set(template.organizationId, sequence)
    const occurred_at = at.toISOString()
    const ids = { notification_id: orderedId('ntf', occurred_at), event_id: freshId('evt') }
    const body = {
      ...(JSON.parse(String(template.notification['body'])) as Row),
      ...ids,
      sequence,
      occurred_at,
    }
    const notification = {
      ...template.notification,
      ...ids,
      sequence,
      occurred_at,
      body: JSON.stringify(body),
    }
    const deliveries = template.deliveries.map((delivery) => ({
      ...delivery,
      ...ids,
      delivery_id: orderedId('dlv', occurred_at),
      next_attempt_at: occurred_at,
      created_at: occurred_at,
    }))
    return { notifications: [notification], deliveries }
  }
}

export function together(events: readonly NewEvents[]): NewEvents {
  return {
    notifications: events.flatMap(({ notifications }) => notifications),
    deliveries: events.flatMap(({ deliveries }) => deliveries),
  }
}

/** In one transaction with the wake-up notification, like the service. */
export async function insertEvents(db: Database, { notifications, deliveries }: NewEvents): Promise<void> {
  const endpoints = [...new Set(deliveries.map((row) => String(row['webhook_endpoint_id'])))]
  // An empty payload wakes all lanes, because a complete list would be too long.
  const named = endpoints.length > 150 ? '' : endpoints.join(' ')
  await db.begin(async (tx) => {
    await tx`
      insert into notification
      select * from json_populate_recordset(null::notification, ${JSON.stringify(notifications)}::text::json)`
    await tx`
      update notification_stream set last_sequence = greatest(last_sequence, latest.sequence)
      from (
        select organization_id, max(sequence) as sequence
        from json_populate_recordset(null::notification, ${JSON.stringify(notifications)}::text::json)
        group by organization_id) as latest
      where notification_stream.organization_id = latest.organization_id`
    await tx`
      insert into delivery
      select * from json_populate_recordset(null::delivery, ${JSON.stringify(deliveries)}::text::json)`
    if (deliveries.length > 0) await tx`select pg_notify('aex_delivery', ${named})`
  })
}
