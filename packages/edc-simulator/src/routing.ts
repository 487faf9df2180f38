import type { IncomingMessage } from 'node:http'

/** A request as the simulated APIs see it. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
  /** Named parts of the path. */
  readonly params: Readonly<Record<string, string>>
}

export interface Reply {
  readonly status: number
  readonly body?: unknown
}

export type Handler = (call: Call) => Reply | Promise<Reply>

export interface Route {
  readonly method: string
  /** `/v3/assets/:id` */
  readonly path: string
  readonly handle: Handler
}

export function route(routes: readonly Route[], call: Omit<Call, 'params'>): Promise<Reply> | Reply {
  for (const { method, path, handle } of routes) {
    const params = method === call.method ? match(path, call.path) : undefined
    if (params) return handle({ ...call, params })
  }
  return { status: 404 }
}

function match(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const value = given[i] ?? ''
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(value)
    else if (part !== value) return undefined
  }
  return params
}

/** EDC's way to refuse. */
export function refuse(status: number, type: string, message: string): Reply {
  return { status, body: [{ message, type, path: null, invalidValue: null }] }
}

export function notFound(kind: string, id: string): Reply {
  return refuse(404, 'ObjectNotFound', `Object of type ${kind} with ID=${id} was not found`)
}
