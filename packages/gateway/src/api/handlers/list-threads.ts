import { agentOf, type Handler } from '../call.ts'

const DEFAULT_PAGE = 50
const SCANNED_AT_ONCE = 200
/** Packages that one page of threads is made from. */
const MAXIMUM_SCANNED = 5_000

interface FoundThread {
  readonly thread_id: string
  packages: number
  readonly last_package_at: string
}

/** From the contents of the agent, newest first. A thread is counted as far as the page looks back. */
export const listThreads: Handler<'listThreads'> = async (call) => {
  const { agentId } = agentOf(call)
  const { limit = DEFAULT_PAGE } = call.query
  const threads = new Map<string, FoundThread>()
  let before = call.query.before
  for (let scanned = 0; scanned < MAXIMUM_SCANNED; scanned += SCANNED_AT_ONCE) {
    const found = await call.parts.contents.list(agentId, {
      limit: SCANNED_AT_ONCE,
      ...(before !== undefined && { before }),
    })
    for (const { packageId, threadId, storedAt } of found) {
      const known = threads.get(threadId)
      if (known) known.packages += 1
      else if (threads.size === limit) return page(threads, before)
      else threads.set(threadId, { thread_id: threadId, packages: 1, last_package_at: storedAt })
      before = packageId
    }
    if (found.length < SCANNED_AT_ONCE) return page(threads, undefined)
  }
  return page(threads, before)
}

const page = (threads: ReadonlyMap<string, FoundThread>, before: string | undefined) => ({
  body: { threads: [...threads.values()], ...(before !== undefined && { next_before: before }) },
})
