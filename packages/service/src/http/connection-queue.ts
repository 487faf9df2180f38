/**
 * What a connection is worth, from the least: a stranger's that is silent, a stranger's with a request under way, an
 * authenticated caller's that is idle, an authenticated caller's with a request under way.
 */
const STANDINGS = ['silent', 'asking', 'idle', 'busy'] as const
export type Standing = (typeof STANDINGS)[number]

/** Connections by what they are worth, within that by how long ago it changed. */
export interface ConnectionQueue<T> {
  readonly size: () => number
  readonly add: (connection: T, standing: Standing) => void
  readonly remove: (connection: T, standing: Standing) => void
  /** The one to close for a newcomer; undefined where every one has an authenticated request under way. */
  readonly leastWorth: () => T | undefined
}

export function createConnectionQueue<T>(): ConnectionQueue<T> {
  const queues = { silent: new Set<T>(), asking: new Set<T>(), idle: new Set<T>(), busy: new Set<T>() }
  return {
    size: () => STANDINGS.reduce((sum, standing) => sum + queues[standing].size, 0),
    add: (connection, standing) => void queues[standing].add(connection),
    remove: (connection, standing) => void queues[standing].delete(connection),
    leastWorth() {
      // A set keeps the order of insertion: its first element is the oldest.
      for (const standing of ['silent', 'asking', 'idle'] as const) {
        for (const oldest of queues[standing]) return oldest
      }
      return undefined
    },
  }
}
