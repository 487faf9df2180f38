import { Connection, type Address, type Outgoing } from './connection.ts'
import type { Sender } from './loops.ts'

const LOST = 0

/** A connection of a hostile client: it is opened again whenever the server closes it. */
export function tenacious(first: Connection, address: Address): Sender & Pick<Connection, 'close'> {
  let connection = first
  return {
    async send(outgoing: Outgoing) {
      try {
        return await connection.send(outgoing)
      } catch {
        connection.close()
        connection = await Connection.open(address)
        return LOST
      }
    },
    lastAnswer: () => connection.lastAnswer(),
    close: () => connection.close(),
  }
}
