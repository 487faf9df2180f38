import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Organization } from '@agent-exchange/testkit'

const RECONNECT_MS = 3_000

/** Raw connections that come back whenever the exchange closes them, until they are disposed. */
export function hostileConnections(
  url: string,
  count: number,
  onConnect: (socket: Socket) => void,
): Disposable {
  const sockets = new Set<Socket>()
  let isOver = false
  const dial = () => {
    if (isOver) return
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('connect', () => onConnect(socket))
    socket.once('close', () => {
      sockets.delete(socket)
      setTimeout(dial, RECONNECT_MS).unref()
    })
  }
  for (let i = 0; i < count; i++) dial()
  return {
    [Symbol.dispose]() {
      isOver = true
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Repeats a request in parallel, each time as soon as it is answered. */
export function floodOf(parallel: number, request: () => Promise<unknown>): Disposable {
  let isOver = false
  const repeat = async () => {
    while (!isOver) await request().catch(() => sleep(RECONNECT_MS))
  }
  for (let i = 0; i < parallel; i++) void repeat()
  return {
    [Symbol.dispose]() {
      isOver = true
    },
  }
}

/** The header section of a package that is never completed. */
export async function packageHead(by: Organization, framing: string): Promise<() => string> {
  const token = await by.token()
  return () =>
    [
      'POST /v1/packages HTTP/1.1',
      'Host: a',
      `Authorization: Bearer ${token}`,
      'X-Correlation-ID: hostile',
      `Idempotency-Key: ${randomUUID()}`,
      'Content-Type: application/json',
      framing,
      '\r\n',
    ].join('\r\n')
}
