import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpServerFactory } from '@modelcontextprotocol/server'
import { HTTP_LIMITS, MAXIMUM_MESSAGE_BYTES } from '../mcp-limits.ts'
import { MCP_PATH, refusalOf } from './request-guard.ts'

const LOOPBACK = '127.0.0.1'

export interface McpHttpServer extends AsyncDisposable {
  readonly url: string
}

/** Serves MCP over Streamable HTTP on the loopback address. Port 0 takes a free port. */
export async function listenHttp(
  factory: McpServerFactory,
  { port, token }: { readonly port: number; readonly token: string },
): Promise<McpHttpServer> {
  const maxRequestBodySize = MAXIMUM_MESSAGE_BYTES
  const handler = createMcpHandler(factory, { maxRequestBodySize })
  const serve = toNodeHandler(handler, { maxRequestBodySize })
  const server = createServer((request, response) => {
    const refusal = refusalOf(request, (server.address() as AddressInfo).port, token)
    if (refusal) refuse(request, response, refusal)
    else serve(request as Parameters<typeof serve>[0], response).catch(() => response.destroy())
  })
  server.maxConnections = HTTP_LIMITS.connections
  server.headersTimeout = HTTP_LIMITS.headersMs
  server.requestTimeout = HTTP_LIMITS.requestMs
  server.listen(port, LOOPBACK)
  await once(server, 'listening')
  return {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}${MCP_PATH}`,
    async [Symbol.asyncDispose]() {
      await handler.close()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, message }: { readonly status: number; readonly message: string },
): void {
  // The body is not read, so the connection cannot be used again.
  response.writeHead(status, {
    'content-type': 'application/json',
    connection: 'close',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }))
  request.resume()
}
