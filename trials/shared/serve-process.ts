import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { endsWithUs } from './child-processes.ts'
import { lastLines } from './last-lines.ts'

/** The command of this release. */
export const AEX = fileURLToPath(new URL('../../packages/cli/bin/aex.js', import.meta.url))
const READY_LIMIT_MS = 60_000
const END_LIMIT_MS = 45_000
const POLL_MS = 25
const REMEMBERED_LINES = 400

/** One run of `aex serve`. */
export interface ServeProcess {
  readonly pid: number
  /** The lines on stderr. */
  readonly messages: readonly string[]
  /** The log lines on stdout. */
  readonly logged: readonly string[]
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<number | NodeJS.Signals>
  hasEnded(): boolean
  /** Pids of the worker processes, if AEX_WORKERS is above one. */
  workers(): number[]
  kill(signal: NodeJS.Signals): void
  /** Waits for the end; throws after a timeout. */
  end(): Promise<number | NodeJS.Signals>
}

/** Runs the real command, of this or another release, with these environment variables only. */
export function spawnServe(
  env: Readonly<Record<string, string>>,
  program = AEX,
  command: readonly string[] = ['serve'],
): ServeProcess {
  const child = endsWithUs(
    spawn(process.execPath, [program, ...command], {
      env: { PATH: process.env['PATH'], NO_COLOR: '1', ...env },
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  const { promise: ended, resolve } = Promise.withResolvers<number | NodeJS.Signals>()
  child.once('exit', (code, signal) => resolve(signal ?? code ?? -1))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    pid: child.pid ?? 0,
    messages: lastLines(child.stderr, REMEMBERED_LINES),
    logged: lastLines(child.stdout, REMEMBERED_LINES),
    ended,
    hasEnded,
    workers: () => workersOf(child.pid ?? 0),
    kill: (signal) => void child.kill(signal),
    end: async () => {
      const result = await Promise.race([ended, sleep(END_LIMIT_MS, undefined, { ref: false })])
      if (result === undefined) throw new Error(`process ${child.pid} did not end in ${END_LIMIT_MS} ms`)
      return result
    },
  }
}

/** May miss a child that is just being created or reaped (proc(5)). */
function workersOf(pid: number): number[] {
  const children = contentOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)
  return children.filter((child) => contentOf(`/proc/${child}/cmdline`).includes('worker-main')).map(Number)
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return '' // ended meanwhile
  }
}

/** Waits for `/readyz`; throws with the messages of a process that ends instead. */
export async function untilReady(served: ServeProcess, operatorUrl: string): Promise<void> {
  for (let waited = 0; waited < READY_LIMIT_MS; waited += POLL_MS) {
    if (served.hasEnded()) throw new Error(`aex serve ended:\n${served.messages.join('\n')}`)
    const answer = await fetch(`${operatorUrl}/readyz`).catch(() => undefined)
    await answer?.body?.cancel()
    if (answer?.status === 200) return
    await sleep(POLL_MS)
  }
  throw new Error(`aex serve was not ready in ${READY_LIMIT_MS} ms:\n${served.messages.join('\n')}`)
}

/** Sends the signal and waits for the end of the process. */
export async function killed(served: ServeProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  served.kill(signal)
  await served.end()
}
