import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { connected, wrapped, type Era, type TestClient } from './clients.fixture.ts'
import { StdioClientTransport, StreamableHTTPClientTransport } from './official-client.fixture.ts'

const AEX = resolve(import.meta.dirname, '../../cli/bin/aex.js')
const START_MS = 30_000

/** What a client configuration contains: a command and its arguments. */
export function commandOf(dir: string, ...options: readonly string[]) {
  return { command: process.execPath, args: [AEX, 'agent', 'mcp', '--dir', dir, ...options] }
}

/** A client of the official SDK that starts `aex agent mcp`, as a desktop application does. */
export async function connectByStdio(
  dir: string,
  era: Era,
): Promise<TestClient & { readonly errors: () => string }> {
  const transport = new StdioClientTransport({ ...commandOf(dir), stderr: 'pipe' })
  let errors = ''
  transport.stderr?.on('data', (chunk: Buffer) => (errors += String(chunk)))
  return { ...wrapped(await connected(transport, era)), errors: () => errors }
}

export interface HttpProcess extends AsyncDisposable {
  readonly url: string
  readonly token: string
}

/** `aex agent mcp --http` in a process of its own, by default on a free port. */
export async function startHttpProcess(dir: string, port = '0'): Promise<HttpProcess> {
  const { command, args } = commandOf(dir, '--http', port)
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  try {
    return {
      url: await printedUrl(child.stderr),
      token: readFileSync(join(dir, 'mcp-token'), 'utf8').trim(),
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Goes on reading afterwards: a process whose standard error is closed ends. */
function printedUrl(stderr: Readable): Promise<string> {
  let printed = ''
  return new Promise((found, fail) => {
    const late = setTimeout(() => fail(new Error(`aex agent mcp did not start:\n${printed}`)), START_MS)
    stderr.on('data', (chunk: Buffer) => {
      printed += String(chunk)
      const [url] = /http:\/\/127\.0\.0\.1:\d+\/mcp/u.exec(printed) ?? []
      if (url === undefined) return
      clearTimeout(late)
      found(url)
    })
  })
}

export async function connectByHttp({ url, token }: HttpProcess, era: Era): Promise<TestClient> {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })
  return wrapped(await connected(transport, era))
}
