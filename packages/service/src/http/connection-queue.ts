/** Ascending: unauthenticated without and with a request in progress, then authenticated without and with one. */
const PRIORITIES = ['silent', 'asking', 'idle', 'busy'] as const
export type ConnectionPriority = (typeof PRIORITIES)[number]

/** Connections by priority, then by the time of their last change of priority. */
export interface ConnectionQueue<T> {
  readonly size: () => number
  readonly add: (connection: T, priority: ConnectionPriority) => void
  readonly remove: (connection: T, priority: ConnectionPriority) => void
  /** Undefined if every connection has an authenticated request in progress. */
  readonly evictionCandidate: () => T | undefined
}

export function createConnectionQueue<T>(): ConnectionQueue<T> {
  const queues = { silent: new Set<T>(), asking: new Set<T>(), idle: new Set<T>(), busy: new Set<T>() }
  return {
    size: () => PRIORITIES.reduce((sum, priority) => sum + queues[priority].size, 0),
    add: (connection, priority) => void queues[priority].add(connection),
    remove: (connection, priority) => void queues[priority].delete(connection),
    evictionCandidate() {
      // Sets iterate in insertion order, so the first element is the oldest.
      for (const priority of ['silent', 'asking', 'idle'] as const) {
        for (const oldest of queues[priority]) return oldest
      }
      return undefined
    },
  }
}
