import type { Socket } from 'node:net'

/** Time for the peer to read the response before the connection is reset (RFC 9112 section 9.6). */
const LINGER_MS = 1_000

/** Sends a response and closes. `end` alone half-closes: a silent peer would hold the file descriptor forever. */
export function endSocket(socket: Socket, answer: string): void {
  // Node removes its listeners from the socket of a CONNECT request, so a reset would crash the process.
  socket.on('error', () => socket.destroy())
  socket.end(answer)
  const deadline = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.once('close', () => clearTimeout(deadline))
}

/** After a failed TLS handshake the peer cannot read a response. */
export function isHandshakeFailure({ code = '' }: NodeJS.ErrnoException): boolean {
  return code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')
}
