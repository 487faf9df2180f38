import { INITIAL_RAMP, MAXIMUM_RAMP, MINIMUM_CLAIM_SHARE, RAMP_SLOT_MS } from './webhook-limits.ts'

/**
 * Starts claimed requests at once and limits how many more may be claimed. The limit starts low, because each request
 * needs a new connection, and grows by one for each request that ended or outlasted RAMP_SLOT_MS.
 */
export function createConcurrencyRamp<T>(
  begin: (item: T) => Promise<void>,
  { isBusy, onRoom }: { isBusy: () => boolean; onRoom: () => void },
) {
  let occupied = 0
  let limit = INITIAL_RAMP

  function start(item: T): void {
    let holdsSlot = true
    occupied++
    const freeSlot = () => {
      if (!holdsSlot) return
      holdsSlot = false
      occupied--
      limit = Math.min(limit + 1, MAXIMUM_RAMP)
      onRoom()
    }
    const expire = () => {
      if (isBusy()) timer = setTimeout(expire, RAMP_SLOT_MS)
      else freeSlot()
    }
    let timer = setTimeout(expire, RAMP_SLOT_MS)
    void begin(item).finally(() => {
      clearTimeout(timer)
      freeSlot()
    })
  }

  return {
    /** How many more may be claimed. Zero while few slots are free: a claim costs as much as several deliveries. */
    room: () => (limit - occupied >= limit * MINIMUM_CLAIM_SHARE ? limit - occupied : 0),
    add: (items: readonly T[]) => items.forEach(start),
  }
}
