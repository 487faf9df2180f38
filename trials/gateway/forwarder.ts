import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP forwarder in front of several ports, as a load balancer is, or in front of one that can be taken away. */
export interface Forwarder extends AsyncDisposable {
  readonly port: number
  /** Ends all connections and refuses new ones until `restore`. */
  takeAway(): void
  restore(): void
}

/** A connection goes to the first port, in turn, that accepts it. */
export async function startForwarder(targets: readonly number[]): Promise<Forwarder> {
  const sockets = new Set<Socket>()
  let isAway = false
  let turn = 0
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  }
  const forward = (near: Socket, ports: readonly number[]) => {
    const [port, ...others] = ports
    if (port === undefined) {
      near.destroy()
      return
    }
    const far = connect(port, '127.0.0.1')
    track(far)
    far.once('connect', () => {
      near.on('close', () => far.destroy()).pipe(far)
      far.on('close', () => near.destroy()).pipe(near)
    })
    far.once('error', () => forward(near, far.remotePort === undefined ? others : []))
  }
  const server = createServer({ pauseOnConnect: true }, (near) => {
    track(near)
    if (isAway) {
      near.resetAndDestroy()
      return
    }
    const first = (turn += 1) % targets.length
    forward(near, [...targets.slice(first), ...targets.slice(0, first)])
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    takeAway() {
      isAway = true
      for (const socket of sockets) socket.resetAndDestroy()
    },
    restore() {
      isAway = false
    },
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
