import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { Connection, Transport, WireAnswer, WireRequest } from './wire.ts'

export interface TlsOptions {
  /** PEM of a further authority. */
  readonly ca?: string
  /** PEM of a client certificate and its key. */
  readonly cert?: string
  readonly key?: string
}

interface TransportOptions extends TlsOptions {
  readonly timeoutMs: number
  /** Connections at a time, so that a server of somebody else is not loaded. */
  readonly concurrency: number
}

/** Names the kit to the operator of a service. */
const USER_AGENT = 'aex-conformance'
/** Longer answers are a failure of the request. */
const MAXIMUM_ANSWER_BYTES = 16 * 2 ** 20

/** Requests without redirects, with a time limit, over a bounded number of connections. */
export function httpTransport({ timeoutMs, concurrency, ...tls }: TransportOptions): Transport & Disposable {
  const connection = { hasAuthority: tls.ca !== undefined, hasCertificate: tls.cert !== undefined }
  const settings = { keepAlive: true, maxSockets: concurrency }
  const agents = { 'http:': new HttpAgent(settings), 'https:': new HttpsAgent({ ...settings, ...tls }) }
  const send: Transport = (request) =>
    new Promise((resolve, reject) => {
      const url = new URL(request.url)
      const isTls = url.protocol === 'https:'
      const start = isTls ? requestHttps : requestHttp
      const outgoing = start(url, {
        method: request.method,
        headers: { 'user-agent': USER_AGENT, ...request.headers, ...lengthOf(request) },
        agent: agents[isTls ? 'https:' : 'http:'],
        signal: AbortSignal.timeout(timeoutMs),
      })
      outgoing.on('response', (incoming) => void readAnswer(incoming, connection).then(resolve, reject))
      outgoing.on('error', reject)
      outgoing.end(request.body)
    })
  return Object.assign(send, {
    [Symbol.dispose]: () => Object.values(agents).forEach((agent) => agent.destroy()),
  })
}

function lengthOf({ body }: WireRequest): Record<string, string> {
  return body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
}

async function readAnswer(incoming: IncomingMessage, connection: Connection): Promise<WireAnswer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAXIMUM_ANSWER_BYTES)
      throw new Error(`the answer is longer than ${MAXIMUM_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const)
  return {
    status: incoming.statusCode ?? 0,
    headers: Object.fromEntries(headers),
    text: bytes.toString('utf8'),
    bytes,
    connection,
  }
}
