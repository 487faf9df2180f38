import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { endsWithUs } from '../shared/child-processes.ts'
import { serverUserFor } from '../../packages/database/src/embedded/server-user.ts'

/** PostgreSQL and PgBouncer refuse to run as root. Undefined: the programs run as we do. */
export const PROGRAM_USER = serverUserFor('/nonexistent')

const SHOWN_BYTES = 3_000

/** A program that can be killed and started again. Disposal kills it. */
export interface ChildProgram extends AsyncDisposable {
  readonly name: string
  start(): void
  isRunning(): boolean
  signal(name: NodeJS.Signals): void
  /** SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>
  /** The end of its output. */
  tail(): string
}

interface ChildSettings {
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly logFile: string
}

/** Starts the program. */
export function startProgram({ name, program, args, env, logFile }: ChildSettings): ChildProgram {
  let child: ChildProcess | undefined
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null
  const start = () => {
    const log = openSync(logFile, 'a')
    const started = spawn(program, args, {
      ...PROGRAM_USER,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C.UTF-8', TZ: 'UTC', ...env },
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    endsWithUs(started)
    child = started
  }
  const kill = async () => {
    if (!child || !isRunning()) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  start()
  return {
    name,
    start,
    isRunning,
    signal: (signal) => void child?.kill(signal),
    kill,
    tail: () => `${name}: ${readFileSync(logFile, 'utf8').slice(-SHOWN_BYTES)}`,
    [Symbol.asyncDispose]: kill,
  }
}
