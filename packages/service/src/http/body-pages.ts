const PAGE_BYTES = 16_384

/**
 * Collects the chunks of a body. Small chunks are copied into pages: a body in chunks of one byte would otherwise take
 * more than a hundred times its size, because each chunk is an object.
 */
export function createBodyPages(announcedBytes = Infinity) {
  const pages: Buffer[] = []
  let page = Buffer.alloc(0)
  let free = 0
  let total = 0

  return {
    add(chunk: Buffer): void {
      const fitting = chunk.copy(page, page.length - free, 0, free)
      const rest = chunk.length - fitting
      free -= fitting
      total += fitting
      if (rest === 0) return
      // The announcement only makes a page smaller.
      page = Buffer.allocUnsafe(Math.max(rest, Math.min(PAGE_BYTES, announcedBytes - total)))
      pages.push(page)
      chunk.copy(page, 0, fitting)
      free = page.length - rest
      total += rest
    },
    bytes: (): Buffer => (pages.length === 1 ? page.subarray(0, total) : Buffer.concat(pages, total)),
  }
}
