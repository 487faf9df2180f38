import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Grace period for requests under way when a listener is closed. */
export const DRAIN_MS = 10_000

interface Connection {
  readonly socket: Socket
  readonly responses: Set<ServerResponse>
  /** What had been received when the last response was sent. More belongs to a request under way. */
  answeredBytes: number
}

/**
 * `server.close` answers requests under way, for at most `limitMs`, and closes all other connections at once. Node's own
 * version keeps connections that never sent a request, and cuts off responses that are not sent completely.
 */
export function drainOnClose(server: Server, limitMs = DRAIN_MS): void {
  const open = new Map<string, Connection>()
  let isClosing = false

  const add = (socket: Socket) => {
    const name = nameOf(socket)
    const connection = { socket, responses: new Set<ServerResponse>(), answeredBytes: socket.bytesRead }
    open.set(name, connection)
    socket.once('close', () => {
      if (open.get(name) === connection) open.delete(name)
    })
  }
  server.on('connection', add)
  // Replaces the connection whose handshake it ends.
  server.on('secureConnection', add)

  server.prependListener('request', ({ socket }, response) => {
    const connection = open.get(nameOf(socket))
    if (!connection) return
    connection.responses.add(response)
    if (isClosing) announceEnd(response)
    response.once('close', () => {
      connection.responses.delete(response)
      connection.answeredBytes = socket.bytesRead
      if (isClosing && connection.responses.size === 0) socket.destroySoon()
    })
  })

  // `close` calls it before it stops to listen.
  server.closeIdleConnections = () => {
    isClosing = true
    for (const { socket, responses, answeredBytes } of open.values()) {
      for (const response of responses) announceEnd(response)
      if (responses.size === 0 && socket.bytesRead === answeredBytes) socket.destroy()
    }
    const limit = setTimeout(() => server.closeAllConnections(), limitMs).unref()
    server.once('close', () => clearTimeout(limit))
  }
}

/** The caller sends its next request over another connection. */
function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

/** Under TLS, a connection has two socket objects with the same addresses. */
function nameOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}
