import type { RequestSpans } from '@agent-exchange/server/tracing'

/** Undefined: tracing is off. */
export type WorkSpans = Pick<RequestSpans, 'startWork'> | undefined

type Work = 'receive package' | 'send package' | 'push item'

/** Runs work in a span of its own. A failure is named by its code, never by its text. */
export async function traced<T>(spans: WorkSpans, name: Work, work: () => Promise<T>): Promise<T> {
  const span = spans?.startWork(name)
  try {
    const result = await work()
    span?.end()
    return result
  } catch (error) {
    span?.end(error instanceof Error && 'code' in error ? String(error.code) : 'unexpected')
    throw error
  }
}
