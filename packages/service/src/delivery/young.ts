import { CLAIMED_ROWS, MAXIMUM_YOUNG, YOUNG_MS } from './limits.ts'

/** Counts the requests that were begun a moment ago: as many at once as are of use. */
export function createYoung(onRoom: () => void) {
  let count = 0
  return {
    room: () => Math.min(MAXIMUM_YOUNG - count, CLAIMED_ROWS),

    /** Begins so many; each calls what is returned when it has ended. */
    add(begun: number): () => void {
      let left = begun
      let isYoung = true
      count += begun
      const grown = setTimeout(() => {
        isYoung = false
        count -= left
        if (left > 0) onRoom()
      }, YOUNG_MS)
      return () => {
        left--
        if (isYoung) count--
        if (left === 0) clearTimeout(grown)
      }
    },
  }
}
