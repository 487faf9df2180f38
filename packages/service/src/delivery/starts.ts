import { FIRST_YOUNG, MAXIMUM_YOUNG, SMALLEST_CLAIM_SHARE, YOUNG_MS } from './limits.ts'

/**
 * Begins what was claimed, all of it at once, and says how much more may be claimed: few at first, since each needs a
 * connection, and one more for each that has ended or taken its time.
 */
export function createStarts<T>(
  begin: (item: T) => Promise<void>,
  { isBusy, onRoom }: { isBusy: () => boolean; onRoom: () => void },
) {
  let young = 0
  let limit = FIRST_YOUNG

  function start(item: T): void {
    let isYoung = true
    young++
    const grow = () => {
      if (!isYoung) return
      isYoung = false
      young--
      limit = Math.min(limit + 1, MAXIMUM_YOUNG)
      onRoom()
    }
    const age = () => {
      if (isBusy()) timer = setTimeout(age, YOUNG_MS)
      else grow()
    }
    let timer = setTimeout(age, YOUNG_MS)
    void begin(item).finally(() => {
      clearTimeout(timer)
      grow()
    })
  }

  return {
    /**
     * How many more may be claimed now: each of them begins as soon as it is claimed. None while only few could begin: a
     * claim costs as much as several deliveries.
     */
    room: () => (limit - young >= limit * SMALLEST_CLAIM_SHARE ? limit - young : 0),
    add: (items: readonly T[]) => items.forEach(start),
  }
}
