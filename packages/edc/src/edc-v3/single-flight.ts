import { ConnectorError } from '../connector-error.ts'
import type { WaitScope } from '../wait-scope.ts'

/** Callers that want the same thing at the same time share one piece of work, each with its own patience. */
export class SingleFlight<T> {
  readonly #running = new Map<string, Promise<T>>()

  async run(key: string, scope: WaitScope, work: () => Promise<T>): Promise<T> {
    for (;;) {
      const running = this.#running.get(key)
      if (!running) return this.#start(key, work)
      try {
        return await follow(running, scope)
      } catch (error) {
        // It was the one who had begun it that gave up, not this caller.
        const left = error instanceof ConnectorError && error.code === 'aborted' && !scope.signal.aborted
        if (!left) throw error
      }
    }
  }

  #start(key: string, work: () => Promise<T>): Promise<T> {
    const shared = work().finally(() => this.#running.delete(key))
    this.#running.set(key, shared)
    return shared
  }
}

/** Waits for the work of another; whoever has no more time or is aborted leaves, and the work goes on. */
async function follow<T>(shared: Promise<T>, scope: WaitScope): Promise<T> {
  scope.throwIfAborted()
  const limit = AbortSignal.timeout(Math.ceil(scope.left()))
  const { promise: left, reject } = Promise.withResolvers<never>()
  const abort = () => reject(new ConnectorError('aborted'))
  const expire = () =>
    reject(new ConnectorError('timeout', { what: 'Another call that does the same is not done yet.' }))
  scope.signal.addEventListener('abort', abort, { once: true })
  limit.addEventListener('abort', expire, { once: true })
  try {
    return await Promise.race([shared, left])
  } finally {
    scope.signal.removeEventListener('abort', abort)
    limit.removeEventListener('abort', expire)
  }
}
