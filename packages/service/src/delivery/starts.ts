import { CLAIMED_AHEAD, CLAIMED_ROWS, FIRST_YOUNG, MAXIMUM_YOUNG, YOUNG_MS } from './limits.ts'

/**
 * Begins what was claimed, in its order, with as many at once as are of use: few at first, since each needs a
 * connection, and one more for each that has ended or taken its time. The rest waits here, so that claims can be
 * larger than that.
 */
export function createStarts<T>(
  begin: (item: T) => Promise<void>,
  { isBusy, onRoom }: { isBusy: () => boolean; onRoom: () => void },
) {
  const waiting: T[] = []
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
      next()
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

  function next(): void {
    while (young < limit) {
      const item = waiting.shift()
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
