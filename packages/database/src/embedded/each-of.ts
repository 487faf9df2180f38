/** How many files are under way at once: enough to keep a disk busy with its flushes. */
const AT_ONCE = 8

/** Does the work for every item, several at a time; the first failure is the result. */
export async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  const lane = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}
