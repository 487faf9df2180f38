import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePorts } from '@agent-exchange/testkit'

export const ROOT = resolve(import.meta.dirname, '../../..')
const START_MS = 60_000
const STEP_MS = 250

/** An exchange as `aex serve` runs it, in a process of its own, with an empty folder to work in. */
export interface RunningExchange extends AsyncDisposable {
  readonly folder: string
  readonly url: string
  /** With its commands first on the path. */
  readonly env: NodeJS.ProcessEnv
  /** Lines that it has written, its log among them. */
  logged(): string[]
  /** The exit code once it was told to stop. */
  stop(): Promise<number | null>
}

/** `commands` is the folder whose `aex` and `node` are used; those of the checkout unless told. */
export async function runningExchange(commands = join(ROOT, 'node_modules/.bin')): Promise<RunningExchange> {
  const folder = mkdtempSync(join(tmpdir(), 'aex-running-'))
  // Started by root, PostgreSQL runs as another user, who has to get through to its own folder.
  chmodSync(folder, 0o711)
  const [port, operatorPort] = await freePorts(2)
  const url = `http://127.0.0.1:${port}`
  const env = {
    ...process.env,
    PATH: `${commands}:${process.env['PATH']}`,
    AEX_DATA_DIR: join(folder, 'data'),
    AEX_PORT: String(port),
    AEX_OPERATOR_PORT: String(operatorPort),
    AEX_OPERATOR_URL: `http://127.0.0.1:${operatorPort}`,
    AEX_URL: url,
  }
  const logFile = join(folder, 'service.log')
  const log = openSync(logFile, 'w')
  const service = spawn('aex', ['serve'], { env, cwd: folder, stdio: ['ignore', log, log] })
  closeSync(log)
  const stop = async () => {
    if (service.exitCode === null && service.signalCode === null) {
      service.kill('SIGTERM')
      await once(service, 'exit')
    }
    return service.exitCode
  }
  const exchange = {
    folder,
    url,
    env,
    logged: () => readFileSync(logFile, 'utf8').trimEnd().split('\n'),
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    await ready(`http://127.0.0.1:${operatorPort}/readyz`)
  } catch (error) {
    await exchange[Symbol.asyncDispose]()
    throw error
  }
  return exchange
}

/** The fenced blocks of a document in one language, but for those that install or run a thing with its own test. */
export function blocksOf(document: string, language: 'sh' | 'ts'): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8')
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms')
  const blocks = [...text.matchAll(fence)].map((match) => match[1] ?? '')
  return blocks.filter((block) => !/^npm (?:ci|run)\b/mu.test(block))
}

/** Shell blocks as they stand, but for the port and for `npx`, which would look for the checkout. */
export function scriptOf(blocks: readonly string[], { url }: RunningExchange): string {
  return blocks.join('').replaceAll('npx ', '').replaceAll('http://127.0.0.1:8080', url)
}

async function ready(url: string): Promise<void> {
  for (let waited = 0; waited < START_MS; waited += STEP_MS) {
    const isReady = await fetch(url).then(
      (response) => response.ok,
      () => false,
    )
    if (isReady) return
    await wait(STEP_MS)
  }
  throw new Error('the exchange did not get ready')
}
