import type { Server } from 'node:net'

/** One line of the log per interval, so that a flood cannot fill it. */
const SUMMARY_MS = 1_000

/** Without TLS of its own, a listener closes the connection of anybody but its proxies before it reads a byte. */
export function answerProxiesOnly(
  server: Server,
  isProxy: (address: string | undefined) => boolean,
  log: { warn(fields: object, message: string): void },
): void {
  let closed = 0
  server.prependListener('connection', (socket) => {
    if (isProxy(socket.remoteAddress)) return
    socket.destroy()
    if (closed++ > 0) return
    setTimeout(() => {
      log.warn({ closed }, 'closed connections that are not of a proxy in AEX_GATEWAY_TRUSTED_PROXIES')
      closed = 0
    }, SUMMARY_MS).unref()
  })
}
