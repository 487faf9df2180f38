/** Waiting items, one line per holder. The lines are served in turn, so a long line delays only its holder. */
export interface FairQueue<Item> {
  push(holder: string, item: Item): void
  /** The next item: of the holder that was served longest ago, among those that are accepted. */
  shift(accepts?: (holder: string) => boolean): Item | undefined
  delete(holder: string, item: Item): void
  size(): number
  sizeOf(holder: string): number
}

export function createFairQueue<Item>(): FairQueue<Item> {
  /** In the order in which they are served next. No line is empty. */
  const lines = new Map<string, Set<Item>>()
  let size = 0

  function remove(holder: string, line: Set<Item>, item: Item): void {
    if (!line.delete(item)) return
    size -= 1
    if (line.size === 0) lines.delete(holder)
  }

  return {
    push(holder, item) {
      const line = lines.get(holder)
      if (line) line.add(item)
      else lines.set(holder, new Set([item]))
      size += 1
    },
    shift(accepts) {
      for (const [holder, line] of lines) {
        if (accepts && !accepts(holder)) continue
        for (const item of line) {
          lines.delete(holder)
          remove(holder, line, item)
          if (line.size > 0) lines.set(holder, line)
          return item
        }
      }
      return undefined
    },
    delete(holder, item) {
      const line = lines.get(holder)
      if (line) remove(holder, line, item)
    },
    size: () => size,
    sizeOf: (holder) => lines.get(holder)?.size ?? 0,
  }
}
