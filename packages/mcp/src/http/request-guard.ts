import type { IncomingMessage } from 'node:http'
import { isBearer } from './access-token.ts'

export interface Refusal {
  readonly status: 401 | 403 | 404
  readonly message: string
}

export const MCP_PATH = '/mcp'

/**
 * Decides about a request before its body is read. Host: a page that rebinds its name to this address still sends its
 * own name. Origin: a page of another origin is refused even if it knew the token.
 */
export function refusalOf(request: IncomingMessage, port: number, token: string): Refusal | undefined {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`)
  const { host, origin, authorization } = request.headers
  if (host === undefined || !hosts.includes(host.toLowerCase()))
    return { status: 403, message: 'The Host header does not name this server.' }
  if (origin !== undefined && !hosts.some((name) => origin.toLowerCase() === `http://${name}`))
    return { status: 403, message: 'Requests of other origins are refused.' }
  if (!isBearer(authorization, token))
    return { status: 401, message: 'The bearer token is missing or wrong.' }
  if ((request.url ?? '').split('?', 1)[0] !== MCP_PATH)
    return { status: 404, message: `The server is at ${MCP_PATH}.` }
  return undefined
}
