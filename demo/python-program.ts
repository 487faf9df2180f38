import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { CommandFailure } from '../packages/cli/src/failure.ts'

const PYTHON = 'python3'
const PROGRAM = join(import.meta.dirname, 'gateway_program.py')

/** A Python program that acts for a company by the HTTP interface of its gateway. */
export interface PythonProgram extends AsyncDisposable {
  /** Steps that it did. */
  readonly steps: () => number
  /** The result of a step that must succeed. */
  result<T>(step: string, args: object): Promise<T>
  /** The code of the gateway for a step that must be refused. */
  refusal(step: string, args: object): Promise<string>
}

/** Called before anything starts. */
export function requirePython(): void {
  if (spawnSync(PYTHON, ['--version'], { stdio: 'ignore' }).status !== 0)
    throw new CommandFailure(`--gateway needs ${PYTHON}, which is not installed.`)
}

type Line = { readonly result: unknown } | { readonly refused: string }

export function startPythonProgram(env: Readonly<Record<string, string>>): PythonProgram {
  const child = spawn(PYTHON, [PROGRAM], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let steps = 0
  const run = async (step: string, args: object): Promise<Line> => {
    steps += 1
    child.stdin.write(`${JSON.stringify([step, args])}\n`)
    const { value, done } = (await lines.next()) as IteratorResult<string>
    if (done) throw new CommandFailure(`The Python program ended at “${step}”.`)
    return JSON.parse(value) as Line
  }
  return {
    steps: () => steps,
    async result<T>(step: string, args: object) {
      const line = await run(step, args)
      if ('refused' in line) throw new CommandFailure(`The gateway refused “${step}”: ${line.refused}.`)
      return line.result as T
    },
    async refusal(step, args) {
      const line = await run(step, args)
      if ('refused' in line) return line.refused
      throw new CommandFailure(`The gateway should have refused “${step}”.`)
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.stdin.end()
      child.kill()
      await ended
    },
  }
}
