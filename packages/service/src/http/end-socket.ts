import type { Socket } from 'node:net'

/** Time for the peer to read the answer before the connection is reset (RFC 9112 section 9.6). */
const LINGER_MS = 1_000

/** Answers and closes. `end` alone closes one direction only: a silent peer would keep the descriptor for ever. */
export function endSocket(socket: Socket, answer: string): void {
  // The runtime has taken its listeners off a socket that asked for a tunnel: a reset would end the process.
  socket.on('error', () => socket.destroy())
  socket.end(answer)
  const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.once('close', () => clearTimeout(cut))
}

/** A TLS handshake that failed or took too long: nobody there could read an answer. */
export function isHandshakeFailure({ code = '' }: NodeJS.ErrnoException): boolean {
  return code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')
}
