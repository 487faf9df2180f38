import { Socket } from 'node:net'

/** Far more than transactions send at once; what they may send is limited where it is gathered. */
const BUFFERED_BYTES = 64 * 1_048_576

/** Where the driver would connect to. */
interface Place {
  readonly path?: string | false | undefined
  readonly host: readonly string[]
  readonly port: readonly number[]
}

/**
 * A connection for statements that are sent one behind the other. When a write calls its buffer full, the driver holds
 * back whatever comes next until all that it has sent is answered: one large statement, and nothing behind it travels
 * with it. Here the buffer takes a whole transaction, and what is written in one turn of the event loop leaves together.
 */
class PipelineSocket extends Socket {
  /** Where the driver looks for the server's name: for TLS, and for what it says of a failure. */
  host: string | undefined
  port: number | undefined

  constructor() {
    // Sockets are streams, and take what streams take; their types do not say so.
    super({ writableHighWaterMark: BUFFERED_BYTES } as object)
  }

  override write(...given: unknown[]): boolean {
    if (this.writableCorked === 0) {
      this.cork()
      process.nextTick(() => this.uncork())
    }
    return Reflect.apply(super.write, this, given) as boolean
  }
}

/** It may still be connecting: what is written waits for that, and listeners hear of a failure. */
export function openPipelineSocket({ path, host: [host], port: [port] }: Place): Socket {
  const socket = new PipelineSocket()
  Object.assign(socket, { host, port })
  if (typeof path === 'string') return socket.connect(path)
  if (host === undefined || port === undefined) throw new Error('a database has a host and a port')
  return socket.connect(port, host)
}
