import { ExchangeError, type ThreadStory } from '@agent-exchange/sdk'
import type { DeskCall } from './desk-call.ts'
import { OVERVIEW_WAIT_MS, THREADS_AT_ONCE } from './desk-limits.ts'

/** Stories by their threads. A thread that the exchange did not show in time has none. */
export type ReadThreads = ReadonlyMap<string, ThreadStory>

/** Reads the stories of threads, all within one time limit. What was opened until then is not opened again by the next page. */
export async function readThreads(
  { stories, now }: Pick<DeskCall, 'stories' | 'now'>,
  threadIds: readonly string[],
  waitMs = OVERVIEW_WAIT_MS,
): Promise<ReadThreads> {
  const found = new Map<string, ThreadStory>()
  const left = [...new Set(threadIds)]
  let isLate = false
  async function readOn(): Promise<void> {
    for (let next = left.shift(); next !== undefined && !isLate; next = left.shift())
      try {
        const { story } = await stories.read(next, now)
        if (!isLate) found.set(next, story)
      } catch (error) {
        if (!(error instanceof ExchangeError)) throw error
      }
  }
  const late = new Promise<void>((resolve) => {
    setTimeout(() => {
      isLate = true
      resolve()
    }, waitMs).unref()
  })
  await Promise.race([Promise.all(Array.from({ length: THREADS_AT_ONCE }, readOn)), late])
  isLate = true
  return found
}
