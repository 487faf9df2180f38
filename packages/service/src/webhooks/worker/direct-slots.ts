import type { DirectClaims, DirectDelivery } from '../../kernel/direct-claims.ts'
import { createHealthyEndpoints } from './healthy-endpoints.ts'
import type { ClaimRequest, Lanes } from './lanes.ts'
import { MAXIMUM_RAMP } from './webhook-limits.ts'

interface DirectSlotsSettings {
  readonly worker: string
  readonly lanes: Lanes
  /** Whether this worker may claim deliveries and start requests now. */
  readonly mayClaim: () => boolean
  /** How many more requests can start now. */
  readonly room: () => number
  readonly begin: (claimed: readonly DirectDelivery[]) => void
  /** Slots became free that were reserved. */
  readonly onFreed: () => void
  /** It is unknown whether a transaction claimed deliveries. */
  readonly onDoubt: () => void
}

/**
 * Lets a transaction that creates deliveries claim them for this worker. Slots count as requests in flight from the
 * reservation on, so all limits hold. Endpoints with deliveries that wait are left to the queue: older ones go first.
 */
export function createDirectSlots(settings: DirectSlotsSettings) {
  const { worker, lanes, mayClaim, room, begin, onFreed, onDoubt } = settings
  const healthy = createHealthyEndpoints()
  const idlers: (() => void)[] = []
  let reserved = 0
  let transactions = 0

  function* candidates(notifications: ReadonlyMap<string, number>) {
    let seen = 0
    for (const [organizationId, count] of notifications)
      for (const endpointId of healthy.of(organizationId)) {
        if (++seen > MAXIMUM_RAMP) return
        yield { endpointId, organizationId, count }
      }
  }

  function take(notifications: ReadonlyMap<string, number>): ClaimRequest[] {
    const slots: ClaimRequest[] = []
    let left = room() - reserved
    for (const { endpointId, organizationId, count } of candidates(notifications)) {
      if (left <= 0) break
      const got = lanes.reserve(endpointId, organizationId, Math.min(count, left))
      if (got === 0) continue
      left -= got
      slots.push({ endpointId, room: got })
    }
    return slots
  }

  function giveBackUnused(slots: readonly ClaimRequest[], claimed: readonly DirectDelivery[]): void {
    const used = Map.groupBy(claimed, ({ webhook_endpoint_id }) => webhook_endpoint_id)
    for (const slot of slots) {
      const unused = slot.room - (used.get(slot.endpointId)?.length ?? 0)
      for (let count = 0; count < unused; count++) lanes.finished(slot.endpointId, undefined)
    }
  }

  const reserve: DirectClaims['reserve'] = (notifications) => {
    if (!mayClaim()) return undefined
    const slots = take(notifications)
    if (slots.length === 0) return undefined
    const total = slots.reduce((sum, slot) => sum + slot.room, 0)
    reserved += total
    transactions++
    return {
      worker,
      slots,
      end(outcome, found) {
        const claimed = outcome === 'committed' ? found : []
        reserved -= total
        transactions--
        giveBackUnused(slots, claimed)
        if (outcome === 'in_doubt') onDoubt()
        if (claimed.length > 0) begin(claimed)
        if (claimed.length < total) onFreed()
        if (transactions === 0) for (const resolve of idlers.splice(0)) resolve()
      },
    }
  }

  return {
    reserve,
    /** Resolves when no transaction holds slots. */
    idle: () =>
      transactions === 0 ? Promise.resolve() : new Promise<void>((resolve) => idlers.push(resolve)),
    /** Only endpoints whose last request succeeded get slots. */
    onResult(endpointId: string, organizationId: string, isDelivered: boolean): void {
      if (isDelivered) healthy.add(endpointId, organizationId)
      else healthy.remove(endpointId)
    },
  }
}
