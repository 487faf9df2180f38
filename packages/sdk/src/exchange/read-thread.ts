import type { ThreadResource } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { isNotFound } from './evaluate-draft.ts'
import { readPages } from './pages.ts'

export interface ReadThreadOptions {
  /** Packages on a page; what the exchange chooses unless told. */
  readonly limit?: number
  /** What a thread that the exchange does not show means: an error, or one without pages. */
  readonly missing?: 'error' | 'empty'
  readonly signal?: AbortSignal
}

/**
 * Reads a thread page by page, its packages in the order of acceptance. Ends with an error at a named number of
 * pages, or where the exchange repeats itself.
 *
 * @example
 * for await (const { packages } of readThread(context, 'thread_1')) {
 *   for (const { package_id, state } of packages) console.log(package_id, state)
 * }
 */
export async function* readThread(
  { connection }: AgentContext,
  threadId: string,
  { limit, missing = 'error', signal }: ReadThreadOptions = {},
): AsyncGenerator<ThreadResource> {
  try {
    yield* readPages((after) =>
      connection.call('getThread', {
        path: { thread_id: threadId },
        query: { after, limit },
        ...(signal && { signal }),
      }),
    )
  } catch (error) {
    if (missing !== 'empty' || !isNotFound(error)) throw error
  }
}
