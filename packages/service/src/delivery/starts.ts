import { CLAIMED_AHEAD, CLAIMED_ROWS, FIRST_YOUNG, MAXIMUM_YOUNG, YOUNG_MS } from './limits.ts'

/**
 * Begins what was claimed, with as many at once as are of use: few at first, since each needs a connection, and one
 * more for each that has ended or taken its time. In its order, but lanes with nothing young under way first: their
 * connections are free, and others would have to open one more. The rest waits here, so that claims can be larger
 * than that.
 */
export function createStarts<T>(
  begin: (item: T) => Promise<void>,
  { laneOf, isBusy, onRoom }: { laneOf: (item: T) => string; isBusy: () => boolean; onRoom: () => void },
) {
  const waiting: T[] = []
  /** How many young ones of a lane are under way, where there are any. */
  const underWay = new Map<string, number>()
  let young = 0
  let limit = FIRST_YOUNG

  function start(item: T): void {
    const lane = laneOf(item)
    let isYoung = true
    let holdsLane = true
    young++
    count(lane, 1)
    const letLaneGo = () => {
      if (holdsLane) count(lane, -1)
      holdsLane = false
    }
    const grow = () => {
      if (!isYoung) return
      isYoung = false
      young--
      limit = Math.min(limit + 1, MAXIMUM_YOUNG)
      next()
    }
    const age = () => {
      // Whoever hangs holds up nobody for longer: what was claimed must leave well within its lease.
      letLaneGo()
      if (isBusy()) timer = setTimeout(age, YOUNG_MS)
      else grow()
    }
    let timer = setTimeout(age, YOUNG_MS)
    void begin(item).finally(() => {
      clearTimeout(timer)
      // The connection is free a turn of the event loop after its answer.
      setImmediate(letLaneGo)
      grow()
    })
  }

  function count(lane: string, by: 1 | -1): void {
    const left = (underWay.get(lane) ?? 0) + by
    if (left === 0) underWay.delete(lane)
    else underWay.set(lane, left)
  }

  function take(): T | undefined {
    const free = waiting.findIndex((item) => !underWay.has(laneOf(item)))
    return waiting.splice(Math.max(free, 0), 1)[0]
  }

  function next(): void {
    while (young < limit) {
      const item = take()
      if (item === undefined) break
      start(item)
    }
    if (waiting.length <= CLAIMED_AHEAD) onRoom()
  }

  return {
    /** How many more to claim now. */
    room: () => (waiting.length > CLAIMED_AHEAD ? 0 : CLAIMED_ROWS - waiting.length),

    add(items: readonly T[]): void {
      waiting.push(...items)
      next()
    },

    /** What was not begun, and will not be. */
    clear: (): T[] => waiting.splice(0),
  }
}
