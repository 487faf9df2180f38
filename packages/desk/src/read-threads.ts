import { ExchangeError, type ThreadStory } from '@agent-exchange/sdk'
import type { ThreadSummary } from './desk-agent.ts'
import type { DeskCall } from './desk-call.ts'
import { OVERVIEW_WAIT_MS } from './desk-limits.ts'

/** A thread with its story; none if the exchange did not show it in time. */
export interface ReadThread {
  readonly summary: ThreadSummary
  readonly story?: ThreadStory
}

/** Reads the stories of threads, all within one time limit. What was opened until then is not opened again by the next page. */
export async function readThreads(
  { stories, now }: Pick<DeskCall, 'stories' | 'now'>,
  threads: readonly ThreadSummary[],
): Promise<readonly ReadThread[]> {
  const late = new Promise<undefined>((resolve) => {
    setTimeout(resolve, OVERVIEW_WAIT_MS, undefined).unref()
  })
  return Promise.all(
    threads.map(async (summary): Promise<ReadThread> => {
      const reading = stories.read(summary.threadId, now).catch((error: unknown) => {
        if (error instanceof ExchangeError) return undefined
        throw error
      })
      const read = await Promise.race([reading, late])
      return { summary, ...(read && { story: read.story }) }
    }),
  )
}
