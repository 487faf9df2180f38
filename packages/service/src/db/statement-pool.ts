import { atMost } from './at-most.ts'
import { PLAN_OUTDATED, sqlState } from './sql-state.ts'
import type { Connection } from './wire/connection.ts'
import { ConnectionLost } from './wire/connection-lost.ts'
import type { Request } from './wire/statement.ts'

export interface StatementPool {
  send(request: Request): void
  end(options: { timeout: number }): Promise<void>
}

/**
 * Statements by themselves, each over a connection that has nothing else to do at the time; the rest wait in their order.
 * A connection that ended is not replaced before somebody needs it.
 */
export function createStatementPool(open: (onEnd: () => void) => Connection, maximum: number): StatementPool {
  const connections = new Set<Connection>()
  const idle: Connection[] = []
  const waiting: Request[] = []
  let underWay = 0
  let onIdle: (() => void) | undefined
  let isOver = false

  function openNext(): Connection {
    const connection: Connection = open(() => {
      connections.delete(connection)
      const index = idle.indexOf(connection)
      if (index >= 0) idle.splice(index, 1)
      startNext()
    })
    connections.add(connection)
    return connection
  }

  function startNext(): void {
    if (waiting.length === 0) return
    const connection = idle.pop() ?? (connections.size < maximum ? openNext() : undefined)
    const request = connection && waiting.shift()
    if (request) run(connection, request)
  }

  function run(connection: Connection, request: Request, isAgain = false): void {
    underWay += 1
    const after =
      <T>(settle: (result: T) => void) =>
      (result: T) => {
        underWay -= 1
        settle(result)
        if (connections.has(connection)) idle.push(connection)
        startNext()
        if (underWay + waiting.length === 0) onIdle?.()
      }
    const fail = after(request.reject)
    const reject = (error: unknown) => {
      if (isAgain || sqlState(error) !== PLAN_OUTDATED) return fail(error)
      underWay -= 1
      run(connection, request, true)
    }
    connection.send({ ...request, resolve: after(request.resolve), reject })
  }

  return {
    send(request) {
      if (isOver) throw new ConnectionLost('the pool has ended', { code: 'CONNECTION_ENDED' })
      waiting.push(request)
      startNext()
    },
    async end({ timeout }) {
      isOver = true
      if (underWay + waiting.length > 0) await atMost(timeout, (done) => (onIdle = done))
      await Promise.all([...connections].map((connection) => connection.close()))
    },
  }
}
