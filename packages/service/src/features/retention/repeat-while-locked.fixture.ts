import { type Database, isLockTimeout } from '@agent-exchange/database'

const MAXIMUM_RUNS = 50

export interface RepeatingDatabase {
  readonly db: Database
  /** The results of all runs, up to the first that found no lock taken. */
  repeat<T>(run: () => Promise<T>): Promise<T[]>
}

/**
 * Where a lock is taken, by autovacuum for example, the next run of the service continues. Here it follows at once: the
 * database counts transactions that gave up waiting for a lock.
 */
export function repeatWhileLocked(opened: Database): RepeatingDatabase {
  let lockTimeouts = 0
  const begin: Database['begin'] = async (work) => {
    try {
      return await opened.begin(work)
    } catch (error) {
      if (isLockTimeout(error)) lockTimeouts += 1
      throw error
    }
  }
  return {
    db: new Proxy(opened, {
      get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)),
    }),
    async repeat(run) {
      const results = []
      for (let count = 0; count < MAXIMUM_RUNS; count++) {
        const before = lockTimeouts
        results.push(await run())
        if (lockTimeouts === before) return results
      }
      throw new Error('a lock was never free')
    },
  }
}
