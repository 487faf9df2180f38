import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { get } from 'node:http'
import { get as getOverTls } from 'node:https'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The command `aex` of this working tree. */
export const AEX = fileURLToPath(new URL('../../../packages/cli/bin/aex.js', import.meta.url))
const READY_LIMIT_MS = 60_000
const END_LIMIT_MS = 30_000
const POLL_MS = 5
const REMEMBERED_LINES = 50

/** A running `aex serve`. Disposing sends SIGTERM and waits. */
export interface Served extends AsyncDisposable {
  readonly pid: number
  readonly url: string
  readonly operatorUrl: string
  /** From the start of the process to the first 200 of /readyz. */
  readonly readyAfterMs: number
}

export interface ServeOptions {
  /** The command `aex` of another revision. */
  readonly program?: string | undefined
  /** Defaults to `serve`. */
  readonly command?: readonly string[]
  readonly url: string
  readonly operatorUrl: string
  readonly env: Readonly<Record<string, string>>
  /** The log file. */
  readonly logFile: string
}

const running = new Set<ChildProcess>()
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')))

/** Runs the command with only these settings. */
export async function serve({
  program = AEX,
  command = ['serve'],
  url,
  operatorUrl,
  env,
  logFile,
}: ServeOptions): Promise<Served> {
  const log = openSync(logFile, 'a')
  const started = performance.now()
  const child = spawn(process.execPath, [program, ...command], {
    env: { PATH: process.env['PATH'], NO_COLOR: '1', ...env },
    cwd: '/',
    stdio: ['ignore', log, 'pipe'],
  })
  closeSync(log)
  running.add(child)
  child.once('exit', () => running.delete(child))
  const said = remember(child)
  const stop = () => end(child)
  while (!(await isReady(operatorUrl))) {
    const isOver = child.exitCode !== null || child.signalCode !== null
    if (isOver || performance.now() - started > READY_LIMIT_MS) {
      await stop()
      throw new Error(`aex ${command.join(' ')} did not become ready:\n${said.join('\n')}`)
    }
    await sleep(POLL_MS)
  }
  return {
    pid: child.pid ?? 0,
    url,
    operatorUrl,
    readyAfterMs: performance.now() - started,
    [Symbol.asyncDispose]: stop,
  }
}

/** The server is our own child process, so its certificate is not verified. */
function isReady(operatorUrl: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const ask = operatorUrl.startsWith('https:') ? getOverTls : get
  const request = ask(`${operatorUrl}/readyz`, { agent: false, rejectUnauthorized: false }, (response) => {
    response.resume()
    resolve(response.statusCode === 200)
  })
  request.once('error', () => resolve(false))
  return promise
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const limit = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS)
  await ended
  clearTimeout(limit)
}

function remember(child: ChildProcess): string[] {
  const lines: string[] = []
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      if (lines.length > REMEMBERED_LINES) lines.shift()
    })
  }
  return lines
}
