import { ConnectorError } from '../connector-error.ts'
import type { WaitScope } from '../wait-scope.ts'

/** Concurrent callers with the same key share one execution, each with its own deadline. */
export class SingleFlight<T> {
  readonly #running = new Map<string, Promise<T>>()

  async run(key: string, scope: WaitScope, work: () => Promise<T>): Promise<T> {
    for (;;) {
      const running = this.#running.get(key)
      if (!running) return this.#start(key, work)
      try {
        return await follow(running, scope)
      } catch (error) {
        // The caller that started the work aborted, not this one.
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

/** Waits for shared work until this caller's deadline or abort. The work continues for the others. */
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
