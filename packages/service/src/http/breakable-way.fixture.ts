import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** For tests: a TCP proxy to the database that can be cut and restored. */
export async function breakableWay(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket)
          client.destroy()
          upstream.destroy()
        })
    }
    client.pipe(upstream).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = new URL(databaseUrl)
  url.port = String(port)
  const cut = async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
    await sleep(50)
  }
  return {
    url: url.href,
    cut,
    [Symbol.asyncDispose]: cut,
    async mend() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
  }
}
