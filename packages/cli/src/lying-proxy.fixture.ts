import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { startWorld, type World } from '@agent-exchange/testkit'

/** What the exchange answered to a path, and what the agent gets instead. */
export type Lie = (path: string, answer: { status: number; date: string; body: string }) => void

/** A real exchange behind a proxy that alters answers on request. */
export interface LyingExchange extends AsyncDisposable {
  readonly world: World
  readonly url: string
  /** From the next answer on; changes it in place. */
  lie: Lie
}

const honest: Lie = () => undefined
const PASSED_ON = ['authorization', 'content-type', 'x-correlation-id', 'idempotency-key'] as const

export async function startLyingExchange(): Promise<LyingExchange> {
  await using cleanup = new AsyncDisposableStack()
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.defer(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const world = cleanup.use(await startWorld({ config: { publicUrl: url } }))

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request
    const given = PASSED_ON.flatMap((name): [string, string][] => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    })
    const body = await buffer(request)
    const truth = await fetch(`${world.url}${path}`, {
      method,
      headers: given,
      ...(body.length > 0 && { body }),
    })
    const answer = {
      status: truth.status,
      date: truth.headers.get('date') ?? '',
      body: await truth.text(),
    }
    exchange.lie(path, answer)
    const type = truth.headers.get('content-type') ?? 'application/json'
    response.writeHead(answer.status, { date: answer.date, 'content-type': type }).end(answer.body)
  }

  const stop = cleanup.move()
  const exchange: LyingExchange = {
    world,
    url,
    lie: honest,
    [Symbol.asyncDispose]: () => stop.disposeAsync(),
  }
  return exchange
}
