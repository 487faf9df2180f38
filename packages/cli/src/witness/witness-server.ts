import { once } from 'node:events'
import { createServer as createPlainServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import {
  cosignNote,
  MAXIMUM_WITNESS_REQUEST_BYTES,
  openWitnessRequest,
  type NoteSigner,
  type VerifierKey,
} from '@agent-exchange/log'
import { CommandFailure } from '../failure.ts'
import type { WitnessState } from './witness-state.ts'

export interface WitnessOptions {
  readonly signer: NoteSigner
  /** Keys of the logs that are witnessed; the name of a key is the origin of its log. */
  readonly logs: readonly VerifierKey[]
  readonly state: WitnessState
  readonly now: () => Date
  /** One sentence for each answer; never content. */
  readonly report?: (sentence: string) => void
}

export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly tls?: { readonly cert: string; readonly key: string }
}

export interface WitnessServer extends AsyncDisposable {
  readonly url: string
}

interface Answer {
  readonly status: number
  readonly type?: string
  readonly body?: string
}

const REQUEST_MS = 10_000
const MAXIMUM_CONNECTIONS = 256
const ADD_CHECKPOINT = '/add-checkpoint'

/** C2SP tlog-witness over HTTP. */
export async function startWitness(options: WitnessOptions, listen: ListenOptions): Promise<WitnessServer> {
  const { host, port, tls } = listen
  const listener: RequestListener = (request, response) => {
    const send = ({ status, type = 'text/plain; charset=utf-8', body = '' }: Answer) =>
      response
        .writeHead(status, { 'content-type': type, ...(status === 413 && { connection: 'close' }) })
        .end(body)
    answer(request, options).then(send, () => send({ status: 500 }))
  }
  const limits = { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }
  const server = tls ? createServer({ ...tls, ...limits }, listener) : createPlainServer(limits, listener)
  server.maxConnections = MAXIMUM_CONNECTIONS
  server.listen(port, host)
  await once(server, 'listening').catch(() => {
    throw new CommandFailure(`Port ${port} of ${host} cannot be used. Choose another with --port and --host.`)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(request: IncomingMessage, options: WitnessOptions): Promise<Answer> {
  const { signer, logs, state, now, report = () => undefined } = options
  if (request.url !== ADD_CHECKPOINT) return { status: 404 }
  if (request.method !== 'POST') return { status: 405 }
  const body = await readBody(request)
  if (body === undefined) return { status: 413 }
  const opened = await openWitnessRequest(body, logs)
  if ('status' in opened) {
    report(`Refused with ${opened.status}: ${opened.reason}`)
    return { status: opened.status, body: `${opened.reason}\n` }
  }
  const { origin, size } = opened.head
  // On disk before the cosignature exists: a crash in between leaves a newer state, never a second history.
  const refusal = state.accept(opened)
  if (refusal) {
    report(`Refused ${origin} of size ${size} with ${refusal.status}: ${refusal.reason}`)
    if (refusal.status === 409 && refusal.size !== undefined)
      return { status: 409, type: 'text/x.tlog.size', body: `${refusal.size}\n` }
    return { status: refusal.status, body: `${refusal.reason}\n` }
  }
  const line = await cosignNote(opened.checkpoint, signer, Math.floor(now().getTime() / 1_000))
  report(`Cosigned ${origin} of size ${size}`)
  return { status: 200, body: `${line}\n` }
}

/** Undefined beyond the limit. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  // The connection stays open for the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAXIMUM_WITNESS_REQUEST_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
