import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { CommandFailure } from './failure.ts'
import { program } from './program.ts'

/** What a command printed and how it ended. */
export interface Ending {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A command under way; disposing of it ends it. */
export interface Running extends AsyncDisposable {
  readonly ended: Promise<Ending>
  /** Waits until it has printed something, to either of its outputs. */
  until(pattern: RegExp): Promise<void>
  /** As Ctrl-C does it. */
  interrupt(): Promise<Ending>
}

const PATIENCE_MS = 30_000
const STEP_MS = 10
/** An access token, or a private key in any form that we have. */
const SECRET = /eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+|"d":|PRIVATE KEY/u

/**
 * Runs a command in this process, which is a hundred times faster than in one of its own. One at a time: it takes
 * the console and the exit code while it runs.
 */
export function aexHere(...args: string[]): Promise<Ending> {
  return aexRunning(...args).ended
}

/** The same for a command that runs until it is told to stop. */
export function aexRunning(...args: string[]): Running {
  const out: string[] = []
  const err: string[] = []
  const ended = run(args, out, err)
  const interrupt = () => {
    process.emit('SIGINT')
    return ended
  }
  return {
    ended,
    interrupt,
    [Symbol.asyncDispose]: async () => void (await interrupt()),
    async until(pattern) {
      for (let waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        if (pattern.test(out.join('')) || pattern.test(err.join(''))) return
        await wait(STEP_MS)
      }
      assert.fail(`aex ${args.join(' ')} did not print ${String(pattern)}:\n${out.join('')}${err.join('')}`)
    },
  }
}

/** The command with its output, provided that it succeeds. */
export async function succeeds(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await aexHere(...args)
  assert.equal(code, 0, `aex ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

/** The one document that a command prints with --json. */
export async function documentOf<T = Record<string, unknown>>(...args: string[]): Promise<T> {
  return JSON.parse(await succeeds(...args, '--json')) as T
}

/** What it says where it fails, as it should: sentences, no stack. */
export async function fails(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await aexHere(...args)
  assert.equal(code, 1, `aex ${args.join(' ')} did not fail\n${stdout}`)
  assert.doesNotMatch(stderr, /^\s+at /m, 'a stack was shown')
  return stderr
}

async function run(args: readonly string[], out: string[], err: string[]): Promise<Ending> {
  const { log, error } = console
  console.log = (...parts: unknown[]) => void out.push(`${parts.join(' ')}\n`)
  console.error = (...parts: unknown[]) => void err.push(`${parts.join(' ')}\n`)
  const before = process.exitCode
  process.exitCode = 0
  try {
    await (await program(args)).parseAsync(args, { from: 'user' })
  } catch (failure) {
    if (!(failure instanceof CommandFailure)) throw failure
    err.push(`${failure.message}\n`)
    process.exitCode = 1
  } finally {
    Object.assign(console, { log, error })
  }
  const code = process.exitCode
  process.exitCode = before
  const [stdout, stderr] = [out.join(''), err.join('')]
  // What `token` is for, no other command does.
  if (!args.includes('token')) assert.equal(SECRET.exec(stdout + stderr)?.[0], undefined)
  return { code, stdout, stderr }
}
