import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { CommanderError, type Command } from 'commander'
import { CommandFailure, failureExitCode } from './failure.ts'
import { program } from './program.ts'

/** What a command printed and how it ended. */
export interface Ending {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Environment and working folder of a command. Defaults to those of the test. */
export interface Place {
  /** Added to the variables of the test; undefined removes one. */
  readonly env?: Readonly<NodeJS.ProcessEnv>
  readonly folder?: string
}

/** A running command. Disposing of it interrupts it. */
export interface Running extends AsyncDisposable {
  readonly ended: Promise<Ending>
  /** Waits until its output or error output matches. */
  until(pattern: RegExp): Promise<void>
  /** Standard output so far. */
  printed(): string
  /** Sends SIGINT, as Ctrl-C does. */
  interrupt(): Promise<Ending>
}

const PATIENCE_MS = 30_000
const STEP_MS = 10
/** An access token or a private key. */
const SECRET = /eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+|"d":|PRIVATE KEY/u

/**
 * Runs a command in this process, a hundred times faster than in a child process. One at a time, because it replaces the
 * console and the exit code.
 */
export function aexHere(...args: string[]): Promise<Ending> {
  return aexRunning(...args).ended
}

/** The same with other variables or in another folder. */
export function aexAt(place: Place, ...args: string[]): Promise<Ending> {
  return run(args, [], [], place)
}

/** The same for a command that runs until it is stopped. */
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
    printed: () => out.join(''),
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

/** Returns the output of a command that must succeed. */
export async function succeeds(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await aexHere(...args)
  assert.equal(code, 0, `aex ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

/** The JSON document that a command prints with --json. */
export async function documentOf<T = Record<string, unknown>>(...args: string[]): Promise<T> {
  return JSON.parse(await succeeds(...args, '--json')) as T
}

/** Returns the error output of a command that must fail, without a stack trace. */
export async function fails(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await aexHere(...args)
  assert.equal(code, 1, `aex ${args.join(' ')} did not fail\n${stdout}`)
  assert.doesNotMatch(stderr, /^\s+at /m, 'a stack was shown')
  return stderr
}

async function run(
  args: readonly string[],
  out: string[],
  err: string[],
  place: Place = {},
): Promise<Ending> {
  const { log, error } = console
  const { exitCode } = process
  const leave = enter(place)
  console.log = (...parts: unknown[]) => void out.push(`${parts.join(' ')}\n`)
  console.error = (...parts: unknown[]) => void err.push(`${parts.join(' ')}\n`)
  process.exitCode = 0
  let code = 0
  try {
    const aex = await program(args)
    captureOutput(aex, out, err)
    await aex.parseAsync(args, { from: 'user' })
    code = process.exitCode
  } catch (failure) {
    code = codeOf(failure, err, args)
  } finally {
    Object.assign(console, { log, error })
    process.exitCode = exitCode
    leave()
  }
  const [stdout, stderr] = [out.join(''), err.join('')]
  // Only `token` may print a token.
  if (!args.includes('token')) assert.equal(SECRET.exec(stdout + stderr)?.[0], undefined)
  return { code, stdout, stderr }
}

/** Variables of the test runner and of the developer that must not affect commands. */
const REMOVED_VARIABLES = { FORCE_COLOR: undefined, AEX_PROFILE: undefined, TESTKIT_POSTGRES: undefined }

/** Applies variables and folder. Returns a function that restores them. */
function enter({ env = {}, folder }: Place): () => void {
  const from = process.cwd()
  const entries = Object.entries({ ...REMOVED_VARIABLES, ...env })
  const before = entries.map(([name]) => [name, process.env[name]] as const)
  setVariables(entries)
  if (folder !== undefined) process.chdir(folder)
  return () => {
    if (folder !== undefined) process.chdir(from)
    setVariables(before)
  }
}

function setVariables(entries: readonly (readonly [string, string | undefined])[]): void {
  for (const [name, value] of entries) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}

/** Captures what commander writes itself, and keeps it from ending the process. */
function captureOutput(command: Command, out: string[], err: string[]): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => void out.push(text),
    writeErr: (text) => void err.push(text),
  })
  for (const child of command.commands) captureOutput(child, out, err)
}

/** As in `main.ts`: the message of a failure is printed, and anything else is a defect. */
function codeOf(failure: unknown, err: string[], args: readonly string[]): number {
  if (failure instanceof CommanderError) return failure.exitCode
  if (!(failure instanceof CommandFailure)) throw failure
  err.push(`${failure.message}\n`)
  return failureExitCode(args)
}
