/** A minimal TLS webhook receiver in a separate process. Started by `startReceiver`. */

import { createServer, type TLSSocket } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerCalls } from '../processes/calls.ts'
import { sharedNow } from '../processes/shared-clock.ts'
import { HANGING_PATH } from './hanging-path.ts'

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n'
const HEAD_END = '\r\n\r\n'
const WAIT_STEP_MS = 2

/** The first arrival of a delivery, by the shared clock. */
export interface Arrival {
  readonly deliveryId: string
  readonly packageId: string
  readonly at: number
  /** Whether its endpoint never hangs. */
  readonly isHealthy: boolean
}

const arrivals = new Map<string, Arrival>()
let healthy = 0
let isHanging = false
const hung = new Set<TLSSocket>()

/** Responds with 204, unless the path hangs. */
function onRequest(socket: TLSSocket, head: string, body: string): void {
  const deliveryId = /\r\nsvc-delivery-id: *(\S+)/i.exec(head)?.[1] ?? ''
  const isHealthy = !head.startsWith(`POST ${HANGING_PATH}`)
  if (!arrivals.has(deliveryId)) {
    const packageId = /"package_id":"([^"]+)"/.exec(body)?.[1] ?? ''
    arrivals.set(deliveryId, { deliveryId, packageId, at: sharedNow(), isHealthy })
    if (isHealthy) healthy++
  }
  if (isHanging && !isHealthy) hung.add(socket)
  else socket.write(NO_CONTENT, 'latin1')
}

function onConnection(socket: TLSSocket): void {
  let waiting: Buffer = Buffer.alloc(0)
  socket.setNoDelay(true)
  socket.on('error', () => undefined)
  socket.on('close', () => hung.delete(socket))
  socket.on('data', (chunk: Buffer) => {
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
    for (;;) {
      const end = waiting.indexOf(HEAD_END)
      if (end < 0) return
      const head = waiting.toString('latin1', 0, end)
      const from = end + HEAD_END.length
      const length = from + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      if (waiting.length < length) return
      const body = waiting.toString('latin1', from, length)
      waiting = waiting.subarray(length)
      onRequest(socket, head, body)
    }
  })
}

const calls = {
  /** Listens on each of the addresses; the port is the same on all. */
  async listen(
    addresses: readonly string[],
    { certificate: cert, key }: { certificate: string; key: string },
  ) {
    let port = 0
    for (const host of addresses) {
      const server = createServer({ cert, key })
      server.on('secureConnection', onConnection)
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      server.once('error', reject)
      server.listen({ host, port }, resolve)
      await promise
      port = (server.address() as { port: number }).port
    }
    return port
  },
  /** Whether requests to the hanging path get no response; false also answers the waiting ones. */
  hang(shall: boolean): void {
    isHanging = shall
    if (shall) return
    for (const socket of hung) socket.write(NO_CONTENT, 'latin1')
    hung.clear()
  },
  forget(): void {
    arrivals.clear()
    healthy = 0
  },
  /** Waits until this many deliveries have arrived since `forget`; repeated attempts do not count. */
  async arrivals(count: number, limitMs: number, isHealthyOnly = false): Promise<Arrival[]> {
    const arrived = () => (isHealthyOnly ? healthy : arrivals.size)
    for (const from = performance.now(); arrived() < count; await sleep(WAIT_STEP_MS)) {
      if (performance.now() - from > limitMs) {
        throw new Error(`${arrived()} of ${count} deliveries arrived within ${limitMs} ms`)
      }
    }
    return [...arrivals.values()].filter(({ isHealthy }) => isHealthy || !isHealthyOnly)
  },
}

export type ReceiverCalls = typeof calls

answerCalls(calls)
