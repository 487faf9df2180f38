import { fingerprint, type LiveContent } from '@agent-exchange/web'
import { Problem } from '../kernel/problem.ts'
import type { OperatorDependencies } from '../operator/dependencies.ts'
import { callApiAs } from './call-api.ts'
import type { Watch } from './console-page.ts'
import { fieldsOf } from './fields.ts'

/** The stream of a live page is at this path, followed by the path and the query of the page. */
export const EVENTS_PATH = '/events'
const SEEN_FIELD = 'seen'

/** Streams of all operators share a read, so it runs with the lowest role. */
const READER = { name: 'console', role: 'viewer' } as const

/** Address of the event stream of a page that shows this content. */
export function streamAddress(page: URL, shown: object): string {
  const query = new URLSearchParams(page.search)
  query.set(SEEN_FIELD, fingerprint(shown))
  return `${EVENTS_PATH}${page.pathname}?${query.toString()}`
}

interface StreamRequest {
  readonly address: URL
  readonly params: Readonly<Record<string, string>>
}

/** What the stream at this address compares. A page that is gone has its problem as content. */
export function liveContent(
  watch: Watch,
  { address, params }: StreamRequest,
  operator: OperatorDependencies,
): LiveContent {
  const query = new URLSearchParams(address.search)
  const seen = query.get(SEEN_FIELD) ?? undefined
  query.delete(SEEN_FIELD)
  const call = { params, query: fieldsOf(query.toString()), api: callApiAs(READER, operator) }
  const read = async () => {
    try {
      return await watch({ ...call, now: new Date(operator.context.clock.now()) })
    } catch (error) {
      if (error instanceof Problem) return { problem: error.code }
      throw error
    }
  }
  return { topic: `${address.pathname}?${query.toString()}`, read, seen }
}
