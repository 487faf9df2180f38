import assert from 'node:assert/strict'
import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type ClientOptions,
} from './official-client.fixture.ts'
import { serveHttp } from './serve.ts'
import type { McpSession } from './session.ts'

/** The two revisions of the protocol that clients speak. */
export const ERAS = ['legacy', 'auto'] as const
export type Era = (typeof ERAS)[number]

export const TOKEN = 'a'.repeat(43)

/** A client of the official SDK that is connected to a server of ours over HTTP. */
export interface TestClient extends AsyncDisposable {
  readonly client: InstanceType<typeof Client>
  /** The result of a tool, whether it succeeded or not. */
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>
  /** The structured result of a tool that succeeds. */
  result<T>(name: string, args?: Record<string, unknown>): Promise<T>
  /** The text of a tool that fails. */
  failure(name: string, args?: Record<string, unknown>): Promise<string>
}

export async function connectClient(url: string, era: Era, options: ClientOptions = {}): Promise<TestClient> {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${TOKEN}` } },
  })
  return wrapped(await connected(transport, era, options))
}

export async function connected(
  transport: Parameters<InstanceType<typeof Client>['connect']>[0],
  era: Era,
  options: ClientOptions = {},
): Promise<InstanceType<typeof Client>> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: era }, ...options },
  )
  await client.connect(transport)
  return client
}

export function wrapped(client: InstanceType<typeof Client>): TestClient {
  const call = (name: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: args })
  return {
    client,
    call,
    async result<T>(name: string, args?: Record<string, unknown>) {
      const answer = await call(name, args)
      assert.ok(!answer.isError, textOf(answer))
      return answer.structuredContent as T
    },
    async failure(name, args) {
      const answer = await call(name, args)
      assert.ok(answer.isError, `${name} did not fail`)
      return textOf(answer)
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

export function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
}

/** A server on a free port with one client. */
export async function serveAndConnect(
  session: McpSession,
  era: Era,
  options?: ClientOptions,
): Promise<TestClient & { readonly url: string }> {
  const server = await serveHttp(session, { port: 0, token: TOKEN })
  const client = await connectClient(server.url, era, options)
  return {
    ...client,
    url: server.url,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}
