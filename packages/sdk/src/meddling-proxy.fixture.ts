import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startWorld, type World } from '@agent-exchange/testkit'

type WorldOptions = NonNullable<Parameters<typeof startWorld>[0]>

/** A request as it passed. */
export interface Passed {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Reply {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
}

/**
 * Stands between an agent and a real exchange, as a hostile operator or a bad network would. What it is not told
 * to change passes through.
 */
export interface MeddlingProxy {
  readonly url: string
  readonly passed: Passed[]
  /** Answers instead of the exchange; `drop` closes the connection, `hang` never answers. */
  before: (request: Passed) => Instead | Promise<Instead>
  /** Changes what the exchange answered; `drop` loses the answer after the exchange has acted. */
  after: (request: Passed, reply: Reply) => Reply | 'drop'
  /** How often a path was asked for. */
  count(path: string | RegExp): number
}

type Instead = Partial<Reply> | 'drop' | 'hang' | undefined

export interface ProxiedWorld extends AsyncDisposable {
  readonly world: World
  readonly proxy: MeddlingProxy
}

const leave = () => undefined
/** An exchange from before the transparency log. */
export const withoutLog = ({ path }: Passed): Instead =>
  path.startsWith('/log/') ? { status: 404, headers: {}, body: '' } : undefined
const keep = (_: Passed, reply: Reply) => reply

/** A real exchange whose public address is the proxy's. */
export async function startProxiedWorld(options: WorldOptions = {}): Promise<ProxiedWorld> {
  const cleanup = new AsyncDisposableStack()
  const passed: Passed[] = []
  let target = ''
  const server = createServer((request, response) => void pass(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanup.defer(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const proxy: MeddlingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    before: leave,
    after: keep,
    count: (path) =>
      passed.filter((each) => (typeof path === 'string' ? each.path === path : path.test(each.path))).length,
  }

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = request
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const seen: Passed = { method, path: url, headers, body: Buffer.concat(chunks).toString('utf8') }
    passed.push(seen)
    const instead = await proxy.before(seen)
    if (instead === 'hang') return
    const reply = instead ?? proxy.after(seen, await forward(seen))
    if (reply === 'drop') {
      request.socket.destroy()
      return
    }
    response.writeHead(reply.status ?? 200, reply.headers).end(reply.body)
  }

  async function forward({ method, path, headers, body }: Passed): Promise<Reply> {
    const { authorization, accept, 'content-type': type } = headers
    const sent = new Headers(
      Object.entries({
        authorization,
        accept,
        'content-type': type,
        'x-correlation-id': headers['x-correlation-id'],
        'idempotency-key': headers['idempotency-key'],
      }).flatMap(([name, value]): [string, string][] => (typeof value === 'string' ? [[name, value]] : [])),
    )
    const answer = await fetch(target + path, {
      method,
      headers: sent,
      redirect: 'manual',
      ...(method === 'POST' && { body }),
    })
    const { 'content-type': contentType = '', date = '' } = Object.fromEntries(answer.headers)
    return {
      status: answer.status,
      headers: { 'content-type': contentType, date },
      body: contentType.startsWith('application/octet-stream')
        ? new Uint8Array(await answer.arrayBuffer())
        : await answer.text(),
    }
  }

  const world = cleanup.use(
    await startWorld({ ...options, config: { ...options.config, publicUrl: proxy.url } }),
  )
  target = world.url
  return { world, proxy, [Symbol.asyncDispose]: () => cleanup.disposeAsync() }
}

/** The JSON of a reply, changed. */
export function changed(reply: Reply, change: (body: Record<string, unknown>) => object): Reply {
  return { ...reply, body: JSON.stringify(change(JSON.parse(String(reply.body)) as Record<string, unknown>)) }
}
