import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Target } from '../load/stock.ts'

/** Of the bodies in flight that one organization may have (O-14). */
const ORGANIZATION_SHARE = 1 / 8

/**
 * Sends request bodies of maximum size up to their last byte, until the service holds as many as O-14 allows; then runs
 * `work` and drops them.
 */
export async function withHeldBodies<T>(
  { url, tokens }: Target,
  { request_bytes, request_bytes_in_flight: total }: DeploymentProfile['O-14'],
  work: () => Promise<T>,
): Promise<T> {
  // All but one body, so that none is refused for a few bytes too many.
  const each = Math.floor((total * ORGANIZATION_SHARE) / request_bytes)
  const count = Math.floor(total / request_bytes) - 1
  const sockets: Socket[] = []
  try {
    for (let i = 0; i < count; i++) {
      const token = tokens[Math.floor(i / each)]
      if (token !== undefined) sockets.push(await almostSent(url, token, request_bytes))
    }
    return await work()
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

async function almostSent(url: string, token: string, bytes: number): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const head = [
    'POST /v1/packages HTTP/1.1',
    `Host: ${hostname}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'X-Correlation-ID: held',
    `Idempotency-Key: held-${Math.random()}`,
    `Content-Length: ${bytes}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  if (!socket.write(Buffer.alloc(bytes - 1, 0x20))) await once(socket, 'drain')
  return socket
}
