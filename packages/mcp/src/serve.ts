import { once } from 'node:events'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { listenHttp, type McpHttpServer } from './http/serve-http.ts'
import { MAXIMUM_MESSAGE_BYTES, MAXIMUM_UNREAD_BYTES } from './mcp-limits.ts'
import { createServerFactory } from './server/server-factory.ts'
import type { McpSession } from './session.ts'
import { limitedLines } from './stdio/limited-lines.ts'

export interface StreamServer extends AsyncDisposable {
  /** Resolves when the client closes its end. */
  readonly closed: Promise<void>
}

/**
 * Serves one client over a pair of streams, by default those of the process. A message above the limit is refused by
 * itself: the client gets an error for it, and goes on.
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
  const answers = answersTo(output)
  const lines = limitedLines(MAXIMUM_MESSAGE_BYTES, refuse, () => drained(answers))
  const transport = new ClosingTransport(lines, answers, resolve)
  const handle = serveStdio(createServerFactory(session), { transport })
  input.once('close', () => lines.end()).pipe(lines)

  function refuse(id: string | number | null): void {
    const message = `The message is larger than ${MAXIMUM_MESSAGE_BYTES} bytes, and nothing was done. Send a smaller one.`
    answers.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message } })}\n`)
    session.onCall?.({ tool: 'message', outcome: 'limited', code: 'message_too_large', milliseconds: 0 })
  }

  return {
    closed,
    async [Symbol.asyncDispose]() {
      await handle.close()
      input.unpipe(lines).pause()
      answers.end()
      resolve()
    },
  }
}

/** Tells when it closes, also by itself after a failure of a stream. */
class ClosingTransport extends StdioServerTransport {
  readonly #onClosed: () => void

  constructor(input: Readable, output: Writable, onClosed: () => void) {
    super(input, output, { maxBufferSize: 2 * MAXIMUM_MESSAGE_BYTES })
    this.#onClosed = onClosed
  }

  override async close(): Promise<void> {
    await super.close()
    this.#onClosed()
  }
}

/** JSON-RPC 2.0 section 5.1. */
const INVALID_REQUEST = -32_600

/** Holds answers that the client has not read. The library adds listeners for each of them, which is no leak. */
function answersTo(output: Writable): PassThrough {
  const answers = new PassThrough({ writableHighWaterMark: MAXIMUM_UNREAD_BYTES })
  answers.setMaxListeners(0)
  output.once('error', (error) => answers.destroy(error))
  answers.pipe(output, { end: false })
  return answers
}

/** Nothing more is read from a client that does not read its answers. */
async function drained(answers: Writable): Promise<void> {
  if (answers.writableNeedDrain) await once(answers, 'drain')
}

/** Serves any number of clients over Streamable HTTP on the loopback address. Each needs the token. */
export function serveHttp(
  session: McpSession,
  listen: { readonly port: number; readonly token: string },
): Promise<McpHttpServer> {
  return listenHttp(createServerFactory(session), listen)
}
