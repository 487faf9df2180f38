import type { Queries } from '@agent-exchange/database'
import type { AttemptRow, DeliveryState } from '../../webhooks/queue/delivery-queries.ts'
import { EXCHANGE, factsOf, type Step, type StepOutcome } from './step.ts'

export interface DeliveryOfPackage {
  readonly delivery_id: string
  readonly package_id: string
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly notification_id: string
  readonly state: DeliveryState
  readonly attempt: number
  readonly replay_of: string | null
}

/** The oldest deliveries of each package. */
export async function deliveriesOf(
  db: Queries,
  packageIds: readonly string[],
  limitEach: number,
): Promise<DeliveryOfPackage[]> {
  return db.byIndex<DeliveryOfPackage[]>`
    select delivery.* from unnest(${[...packageIds]}::text[]) as wanted (id)
    cross join lateral (
      select delivery_id, package_id, webhook_endpoint_id, organization_id, notification_id, state, attempt, replay_of
      from delivery where package_id = wanted.id limit ${limitEach}) as delivery
    order by delivery_id`
}

type AttemptOfPackage = AttemptRow & { readonly delivery_id: string }

/** A delivery that the first attempt brought over needs no step of its own: that of its notification says so. */
export async function attemptSteps(db: Queries, deliveries: readonly DeliveryOfPackage[]): Promise<Step[]> {
  const shown = deliveries.filter(
    ({ state, attempt, replay_of }) => state !== 'delivered' || attempt > 1 || replay_of !== null,
  )
  const byId = new Map(shown.map((delivery) => [delivery.delivery_id, delivery]))
  const attempts = await db.byIndex<AttemptOfPackage[]>`
    select delivery_id, attempt, started_at, outcome, details
    from unnest(${[...byId.keys()]}::text[]) as wanted (delivery_id) join delivery_attempt using (delivery_id)`
  return attempts.flatMap((attempt) => {
    const delivery = byId.get(attempt.delivery_id)
    return delivery ? [attemptStep(delivery, attempt)] : []
  })
}

interface Details {
  readonly status?: number
  readonly error_class?: string
  readonly duration_ms?: number
  readonly next_attempt_at?: string
}

function attemptStep(
  delivery: DeliveryOfPackage,
  { attempt, started_at, outcome, details }: AttemptOfPackage,
) {
  const { status, error_class, duration_ms, next_attempt_at } = JSON.parse(details) as Details
  const result = status === undefined ? (error_class ?? outcome) : `status ${status}`
  const outcomes: Readonly<Record<string, StepOutcome>> = { delivered: 'good', retry: 'pending' }
  return {
    at: started_at,
    kind: 'attempt',
    what: `Webhook attempt ${attempt}${delivery.replay_of === null ? '' : ' of a replay'}: ${result}`,
    outcome: outcomes[outcome] ?? 'bad',
    from: EXCHANGE,
    to: delivery.organization_id,
    package_id: delivery.package_id,
    facts: factsOf({
      delivery_id: delivery.delivery_id,
      webhook_endpoint_id: delivery.webhook_endpoint_id,
      outcome,
      status,
      error_class,
      duration_ms,
      next_attempt_at,
      replay_of: delivery.replay_of,
    }),
  } satisfies Step
}

interface AlertRow {
  readonly delivery_id: string
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly kind: string
  readonly reason: string
  readonly raised_at: string
}

const ALERTS: Readonly<Partial<Record<string, string>>> = {
  delivery_dead: 'dead letter',
  delivery_failed: 'delivery failed permanently',
  endpoint_disabled: 'endpoint disabled',
  endpoint_failing: 'endpoint fails',
}

export async function alertSteps(db: Queries, deliveries: readonly DeliveryOfPackage[]): Promise<Step[]> {
  const packages = new Map(deliveries.map(({ delivery_id, package_id }) => [delivery_id, package_id]))
  const alerts = await db.byIndex<AlertRow[]>`
    select delivery_id, webhook_endpoint_id, organization_id, kind, reason, raised_at from alert
    where delivery_id = any(${[...packages.keys()]}::text[])`
  return alerts.map(({ delivery_id, webhook_endpoint_id, organization_id, kind, reason, raised_at }) => ({
    at: raised_at,
    kind: 'alert',
    what: `Alert: ${ALERTS[kind] ?? kind}`,
    outcome: 'bad',
    from: EXCHANGE,
    to: organization_id,
    package_id: packages.get(delivery_id) ?? '',
    facts: factsOf({ delivery_id, webhook_endpoint_id, reason }),
  }))
}
