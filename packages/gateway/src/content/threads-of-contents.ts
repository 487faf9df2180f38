import { MAXIMUM_CONTENT_PAGE } from './content-limits.ts'
import type { ContentStore } from './content-store.ts'

/** Packages that one page of threads is made from. */
const MAXIMUM_SCANNED = 5_000

export interface FoundThread {
  readonly threadId: string
  packages: number
  readonly lastPackageAt: string
  readonly lastPackageId: string
}

export interface ThreadPage {
  readonly threads: readonly FoundThread[]
  /** Where the next page begins. */
  readonly before?: string
}

/** From the contents of the agent, newest first. A thread is counted as far as the page looks back. */
export async function threadsOfContents(
  contents: ContentStore,
  agentId: string,
  { limit, before: begin }: { readonly limit: number; readonly before?: string },
): Promise<ThreadPage> {
  const threads = new Map<string, FoundThread>()
  const page = (before?: string): ThreadPage => ({
    threads: [...threads.values()],
    ...(before !== undefined && { before }),
  })
  let before = begin
  for (let scanned = 0; scanned < MAXIMUM_SCANNED; scanned += MAXIMUM_CONTENT_PAGE) {
    const found = await contents.list(agentId, {
      limit: MAXIMUM_CONTENT_PAGE,
      ...(before !== undefined && { before }),
    })
    for (const { packageId, threadId, storedAt } of found) {
      const known = threads.get(threadId)
      if (known) known.packages += 1
      else if (threads.size === limit) return page(before)
      else threads.set(threadId, { threadId, packages: 1, lastPackageAt: storedAt, lastPackageId: packageId })
      before = packageId
    }
    if (found.length < MAXIMUM_CONTENT_PAGE) return page()
  }
  return page(before)
}
