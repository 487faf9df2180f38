import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP proxy that can stop forwarding without closing anything, as a cut network does. */
export interface CutProxy extends AsyncDisposable {
  readonly port: number
  /** Keeps back what the server sends; requests still arrive. */
  cutAnswers(): void
  cut(): void
  /** Forwards again, also what arrived in the meantime. */
  mend(): void
}

export async function startCutProxy(targetPort: number): Promise<CutProxy> {
  const pairs = new Set<readonly [near: Socket, far: Socket]>()
  let isCut = false
  /** If one side has closed, so does the other, after it has sent everything. */
  const settle = (pair: readonly [Socket, Socket]) => {
    if (!pair.some(({ destroyed }) => destroyed)) return
    pairs.delete(pair)
    for (const socket of pair) socket.destroySoon()
  }
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    near.on('data', (bytes) => far.write(bytes)).on('end', () => far.end())
    far.on('data', (bytes) => near.write(bytes)).on('end', () => near.end())
    for (const socket of pair) {
      if (isCut) socket.pause()
      socket.on('error', () => undefined)
      // While it is cut, the other side learns nothing.
      socket.on('close', () => isCut || settle(pair))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    cutAnswers() {
      isCut = true
      for (const [, far] of pairs) far.pause()
    },
    cut() {
      isCut = true
      for (const socket of [...pairs].flat()) socket.pause()
    },
    mend() {
      isCut = false
      for (const socket of [...pairs].flat()) socket.resume()
      for (const pair of pairs) settle(pair)
    },
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of [...pairs].flat()) socket.destroy()
    },
  }
}
