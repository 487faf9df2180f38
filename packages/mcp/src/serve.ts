import type { Readable, Writable } from 'node:stream'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { listenHttp, type McpHttpServer } from './http/serve-http.ts'
import { MAXIMUM_MESSAGE_BYTES } from './mcp-limits.ts'
import { createServerFactory } from './server/server-factory.ts'
import type { McpSession } from './session.ts'

export interface StreamServer extends AsyncDisposable {
  /** Resolves when the client closes its end. */
  readonly closed: Promise<void>
}

/**
 * Serves one client over a pair of streams, by default those of the process.
 *
 * @example
 * await using server = serveStandardStreams(session)
 * await server.closed
 */
export function serveStandardStreams(
  session: McpSession,
  { input = process.stdin, output = process.stdout }: { input?: Readable; output?: Writable } = {},
): StreamServer {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAXIMUM_MESSAGE_BYTES })
  const handle = serveStdio(createServerFactory(session), { transport })
  input.once('end', resolve).once('close', resolve)
  return {
    closed,
    async [Symbol.asyncDispose]() {
      await handle.close()
      resolve()
    },
  }
}

/** Serves any number of clients over Streamable HTTP on the loopback address. Each needs the token. */
export function serveHttp(
  session: McpSession,
  listen: { readonly port: number; readonly token: string },
): Promise<McpHttpServer> {
  return listenHttp(createServerFactory(session), listen)
}
