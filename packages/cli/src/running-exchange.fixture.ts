import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePorts } from '@agent-exchange/testkit/free-ports'

export const ROOT = resolve(import.meta.dirname, '../../..')
/** The commands of the checkout: `aex`, and the Node that npm brought. */
export const COMMANDS = join(ROOT, 'node_modules/.bin')
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
  /** Stops it and returns the exit code. */
  stop(): Promise<number | null>
  /** Stops it and starts it again with further settings, on the same data. */
  restart(settings: NodeJS.ProcessEnv): Promise<void>
}

/** `commands` is the folder of `aex` and `node`. Defaults to those of the checkout. */
export async function runningExchange(commands = COMMANDS): Promise<RunningExchange> {
  const folder = mkdtempSync(join(tmpdir(), 'aex-running-'))
  // Started by root, PostgreSQL runs as another user, who has to get through to its own folder.
  chmodSync(folder, 0o711)
  const [port, operatorPort] = await freePorts(2)
  const url = `http://127.0.0.1:${port}`
  const env = {
    ...process.env,
    // Which the runner of the tests sets on a terminal: scripts read what commands print.
    FORCE_COLOR: undefined,
    PATH: `${commands}:${process.env['PATH']}`,
    AEX_DATA_DIR: join(folder, 'data'),
    AEX_PORT: String(port),
    AEX_OPERATOR_PORT: String(operatorPort),
    AEX_OPERATOR_URL: `http://127.0.0.1:${operatorPort}`,
    AEX_URL: url,
  }
  const logFile = join(folder, 'service.log')
  const start = (settings: NodeJS.ProcessEnv) => {
    const log = openSync(logFile, 'a')
    const started = spawn('aex', ['serve'], {
      env: { ...env, ...settings },
      cwd: folder,
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    return started
  }
  let service = start({})
  const hasEnded = () => service.exitCode !== null || service.signalCode !== null
  const logged = () => readFileSync(logFile, 'utf8').trimEnd().split('\n')
  const ready = async () => {
    if (!(await isReady(`http://127.0.0.1:${operatorPort}/readyz`, hasEnded)))
      throw new Error(`the exchange did not get ready:\n${logged().join('\n')}`)
  }
  const stop = async () => {
    if (!hasEnded()) {
      service.kill('SIGTERM')
      await once(service, 'exit')
    }
    return service.exitCode
  }
  const exchange = {
    folder,
    url,
    env,
    logged,
    stop,
    async restart(settings: NodeJS.ProcessEnv) {
      await stop()
      service = start(settings)
      await ready()
    },
    async [Symbol.asyncDispose]() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    await ready()
    return exchange
  } catch (error) {
    await exchange[Symbol.asyncDispose]()
    throw error
  }
}

/**
 * The fenced blocks of a document in one language, except those that install packages or run an npm script. Blocks of
 * `bash` do not end by themselves and have a test of their own.
 */
export function blocksOf(document: string, language: 'sh' | 'bash' | 'ts'): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8')
  // A block in a list is indented.
  const fence = new RegExp(`^( *)\`\`\`${language}\\n(.*?)^ *\`\`\`$`, 'gms')
  const blocks = [...text.matchAll(fence)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gmu'), ''),
  )
  return blocks.filter((block) => !/^npm (?:ci|install|run)\b/mu.test(block))
}

/** Shell blocks as they stand, but for the port and for `npx`, which would look for the checkout. */
export function scriptOf(blocks: readonly string[], { url }: { readonly url: string }): string {
  return blocks.join('').replaceAll('npx ', '').replaceAll('http://127.0.0.1:8080', url)
}

async function isReady(url: string, hasEnded: () => boolean): Promise<boolean> {
  for (let waited = 0; waited < START_MS && !hasEnded(); waited += STEP_MS) {
    const answers = await fetch(url).then(
      (response) => response.ok,
      () => false,
    )
    if (answers) return true
    await wait(STEP_MS)
  }
  return false
}
