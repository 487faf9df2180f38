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

/** Where a command runs, if not just as the test itself does. */
export interface Place {
  /** On top of the test's own variables; one that is undefined is taken away. */
  readonly env?: Readonly<NodeJS.ProcessEnv>
  readonly folder?: string
}

/** A command under way; disposing of it ends it. */
export interface Running extends AsyncDisposable {
  readonly ended: Promise<Ending>
  /** Waits until it has printed something, to either of its outputs. */
  until(pattern: RegExp): Promise<void>
  /** Standard output so far. */
  printed(): string
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

/** The same with other variables, or in another folder. */
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

async function run(
  args: readonly string[],
  out: string[],
  err: string[],
  place: Place = {},
): Promise<Ending> {
  const { log, error } = console
  const { exitCode } = process
  const comeBack = goTo(place)
  console.log = (...parts: unknown[]) => void out.push(`${parts.join(' ')}\n`)
  console.error = (...parts: unknown[]) => void err.push(`${parts.join(' ')}\n`)
  process.exitCode = 0
  let code = 0
  try {
    const aex = await program(args)
    listenTo(aex, out, err)
    await aex.parseAsync(args, { from: 'user' })
    code = process.exitCode
  } catch (failure) {
    code = codeOf(failure, err, args)
  } finally {
    Object.assign(console, { log, error })
    process.exitCode = exitCode
    comeBack()
  }
  const [stdout, stderr] = [out.join(''), err.join('')]
  // What `token` is for, no other command does.
  if (!args.includes('token')) assert.equal(SECRET.exec(stdout + stderr)?.[0], undefined)
  return { code, stdout, stderr }
}

/** On a terminal, the runner of the tests asks for colours; the rest is of the tests or of their owner. */
const NOT_FOR_TESTS = { FORCE_COLOR: undefined, AEX_PROFILE: undefined, TESTKIT_POSTGRES: undefined }

/** Goes there until the result is called. */
function goTo({ env = {}, folder }: Place): () => void {
  const from = process.cwd()
  const entries = Object.entries({ ...NOT_FOR_TESTS, ...env })
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

/** What the parser of the command line says itself, it would write past the console, and then end the process. */
function listenTo(command: Command, out: string[], err: string[]): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => void out.push(text),
    writeErr: (text) => void err.push(text),
  })
  for (const child of command.commands) listenTo(child, out, err)
}

/** As `main.ts` ends: a failure is a sentence, and anything else is a defect. */
function codeOf(failure: unknown, err: string[], args: readonly string[]): number {
  if (failure instanceof CommanderError) return failure.exitCode
  if (!(failure instanceof CommandFailure)) throw failure
  err.push(`${failure.message}\n`)
  return failureExitCode(args)
}
