import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Adds the bearer token, which the conformance suite cannot send. Every other header reaches the server as it is; only
 * the proxy's own address in Host and Origin becomes that of the server.
 */
export async function startTokenProxy(
  target: string,
  token: string,
): Promise<AsyncDisposable & { readonly url: string }> {
  const { hostname: host, port, pathname } = new URL(target)
  const server = createServer((incoming, outgoing) => {
    const own = String((server.address() as AddressInfo).port)
    const readdressed = (value: string) =>
      value.replace(new RegExp(`^(http://)?(localhost|127\\.0\\.0\\.1):${own}$`, 'u'), `$1$2:${port}`)
    const { origin, host: named = '' } = incoming.headers
    const headers = {
      ...incoming.headers,
      authorization: `Bearer ${token}`,
      host: readdressed(named),
      ...(origin !== undefined && { origin: readdressed(origin) }),
    }
    const { method, url: path } = incoming
    const forwarded = request({ host, port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
