import type { ThreadResource } from '@agent-exchange/protocol'
import type { Connection } from './connection.ts'
import { isNotFound } from './not-found.ts'
import { readPages } from './read-pages.ts'

export interface ReadThreadOptions {
  /** Packages per page. Defaults to the exchange's page size. */
  readonly limit?: number
  /** Ends after this many pages. The last page tells whether another one follows. Defaults to all of them. */
  readonly maximumPages?: number
  /** Whether an unknown thread is an error or an empty thread. */
  readonly missing?: 'error' | 'empty'
  readonly signal?: AbortSignal
}

/**
 * Reads a thread page by page, with packages in order of acceptance. Fails after a maximum number of pages or on a
 * repeated cursor.
 *
 * @example
 * for await (const { packages } of readThread(context, 'thread_1')) {
 *   for (const { package_id, state } of packages) console.log(package_id, state)
 * }
 */
export async function* readThread(
  { connection }: { readonly connection: Connection },
  threadId: string,
  { limit, maximumPages, missing = 'error', signal }: ReadThreadOptions = {},
): AsyncGenerator<ThreadResource> {
  try {
    yield* readPages(
      (after) =>
        connection.call('getThread', {
          path: { thread_id: threadId },
          query: { after, limit },
          ...(signal && { signal }),
        }),
      maximumPages,
    )
  } catch (error) {
    if (missing !== 'empty' || !isNotFound(error)) throw error
  }
}
