import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import type { MonitorState } from './monitor-state.ts'

/** Pages of events that one run reads; the next run continues there. */
const MAXIMUM_PAGES = 1_000
const PAGE_ITEMS = 100

/** Threads that the event stream of the organization names, from where the last run stopped. */
export async function threadsOfStream(
  context: AgentContext,
  { cursor }: Pick<MonitorState, 'cursor'>,
  onStep?: () => Promise<void>,
): Promise<{ readonly threads: readonly string[]; readonly cursor: string | undefined }> {
  const threads = new Set<string>()
  let after = cursor
  for (let pages = 0; pages < MAXIMUM_PAGES; pages++) {
    const page = await readPage(context, after)
    for (const { thread_id: threadId } of page.items) threads.add(threadId)
    if (page.items.length > 0) after = page.next_cursor
    if (!page.has_more || page.items.length === 0) break
    await onStep?.()
  }
  return { threads: [...threads], cursor: after }
}

async function readPage({ connection }: AgentContext, after: string | undefined) {
  const read = (from: string | undefined) =>
    connection.call('listNotifications', { query: { after: from, limit: PAGE_ITEMS } })
  try {
    return await read(after)
  } catch (error) {
    const code = error instanceof ExchangeError ? error.problem?.code : undefined
    if (after === undefined || (code !== 'cursor_expired' && code !== 'cursor_invalid')) throw error
    return read(undefined)
  }
}
