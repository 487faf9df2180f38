import type { showPackageRoute } from '../../operator/routes/packages.ts'

export type StepList = Pick<Awaited<ReturnType<typeof showPackageRoute.run>>, 'steps' | 'is_complete'>
export type Step = StepList['steps'][number]

/** A step with what followed from it. */
export interface NestedStep {
  readonly step: Step
  readonly below: NestedStep[]
}

/**
 * Events below the request that caused them, and attempts, alerts and replays of their deliveries below the event. The order
 * of time stays; what has no place stands by itself.
 */
export function nestSteps(steps: readonly Step[]): NestedStep[] {
  const nodes = steps.map((step): NestedStep => ({ step, below: [] }))
  const causes = new Map(
    nodes.flatMap((node) => (isRequest(node.step) ? [[requestKey(node.step), node] as const] : [])),
  )
  const events = new Map(
    nodes.flatMap((node) => deliveryIds(node.step).map((deliveryId) => [deliveryId, node] as const)),
  )
  return nodes.filter((node) => {
    const above = placeOf(node.step, causes, events)
    above?.below.push(node)
    return above === undefined
  })
}

function placeOf(
  step: Step,
  causes: ReadonlyMap<string, NestedStep>,
  events: ReadonlyMap<string, NestedStep>,
): NestedStep | undefined {
  if (step.kind === 'notification') return causes.get(requestKey(step))
  if (step.kind === 'key_event' || isRequest(step)) return undefined
  return events.get(deliveryIdOf(step))
}

/** An agent did it. A replay is an operator's, and belongs to the delivery that it repeats. */
function isRequest({ kind, facts }: Step): boolean {
  return kind === 'evidence' && facts['replay_of'] === undefined
}

/** An event has the package and the time of the request that caused it. */
function requestKey({ package_id = '', at }: Step): string {
  return `${package_id} ${at}`
}

/** The delivery that an attempt, an alert or a replay is about; empty if there is none. */
export function deliveryIdOf({ facts: { delivery_id } }: Step): string {
  return typeof delivery_id === 'string' ? delivery_id : ''
}

function deliveryIds({ kind, facts }: Step): string[] {
  const { deliveries } = facts
  if (kind !== 'notification' || !Array.isArray(deliveries)) return []
  return (deliveries as readonly { readonly delivery_id: string }[]).map(({ delivery_id }) => delivery_id)
}
