import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'

const READY_MS = 120_000
const PASSED = /\nPASTED\n$/u
/** Reads NUL-terminated texts from descriptor 3, so that commands that read their input do not read the next text. */
const LOOP = `while IFS= read -r -d '' -u 3 text; do eval "$text"; printf '\\nPASTED\\n'; done`

interface Place {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** One shell into which text is pasted: variables that a text sets are there for the next one. */
export interface StrangersTerminal extends AsyncDisposable {
  /** Returns what the commands printed. Rejects at the first command that fails. */
  paste(text: string): Promise<string>
}

export function openTerminal(place: Place): StrangersTerminal {
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', LOOP], {
    ...place,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const ended = once(shell, 'close')
  const { stdout, stderr } = shell
  const input = shell.stdio[3] as Writable
  assert.ok(stdout && stderr)
  let printed = ''
  let complained = ''
  stdout.setEncoding('utf8').on('data', (part: string) => (printed += part))
  stderr.setEncoding('utf8').on('data', (part: string) => (complained += part))
  return {
    async paste(text) {
      printed = ''
      complained = ''
      input.write(`${text}\0`)
      while (!PASSED.test(printed)) {
        await Promise.race([once(stdout, 'data'), ended])
        assert.equal(shell.exitCode, null, `a pasted command failed:\n${text}\n${printed}\n${complained}`)
      }
      return printed.replace(PASSED, '')
    },
    async [Symbol.asyncDispose]() {
      input.end()
      await ended
    },
  }
}

/** A command that keeps running in a terminal of its own. Disposing of it ends it. */
export interface RunningCommand extends AsyncDisposable {
  /** What it printed so far, to both outputs. */
  printed(): string
}

/** Resolves when the command has printed that it is ready. */
export async function inOwnTerminal(script: string, ready: RegExp, place: Place): Promise<RunningCommand> {
  // A process group of its own, so that the end of npx also ends what it started.
  const child = spawn('bash', ['-euc', script], {
    ...place,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const ended = once(child, 'close')
  let said = ''
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      said += part
      if (ready.test(said)) resolve()
    })
  void ended.then(() => reject(new Error(`${script} ended:\n${said}`)))
  const limit = setTimeout(() => reject(new Error(`${script} is not ready:\n${said}`)), READY_MS)
  const command: RunningCommand = {
    printed: () => said,
    async [Symbol.asyncDispose]() {
      if (!hasEnded(child)) process.kill(-(child.pid ?? 0), 'SIGTERM')
      await ended
    },
  }
  try {
    await promise
    return command
  } catch (error) {
    await command[Symbol.asyncDispose]()
    throw error
  } finally {
    clearTimeout(limit)
  }
}

/** Types a passphrase whenever the command asks for it at a terminal. */
export async function typePassphrase(command: string, passphrase: string, place: Place): Promise<void> {
  const terminal = spawn('script', ['-qec', command, '/dev/null'], {
    ...place,
    env: { ...place.env, TERM: 'dumb' },
  })
  const ended = once(terminal, 'close')
  let said = ''
  let asked = 0
  terminal.stdout.setEncoding('utf8').on('data', (part: string) => {
    said += part
    const questions = said.match(/passphrase(?:, again)?: /gu)?.length ?? 0
    for (; asked < questions; asked++) terminal.stdin.write(`${passphrase}\n`)
  })
  await ended
  assert.equal(terminal.exitCode, 0, said)
  assert.equal(asked, 2)
  assert.ok(!said.includes(passphrase), 'a passphrase is not echoed')
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}
