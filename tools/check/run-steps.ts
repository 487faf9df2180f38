/** Runs steps with limited concurrency and reports each result as soon as it is available. */

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Step } from './check-steps.ts'
import { ROOT } from '../repository/repository-files.ts'

export interface StepResult {
  readonly step: Step
  readonly outcome: 'passed' | 'failed' | 'skipped'
  readonly seconds: number
  readonly output: string
}

/** Runs `lanes` steps at a time. Rejects only if `onResult` throws. */
export async function runSteps(
  steps: readonly Step[],
  lanes: number,
  onResult: (result: StepResult) => void,
): Promise<StepResult[]> {
  const results: StepResult[] = []
  const waiting = [...steps]
  const lane = async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) {
      const result = await runStep(step)
      results.push(result)
      onResult(result)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return results
}

async function runStep(step: Step): Promise<StepResult> {
  if (step.needs && !existsSync(join(ROOT, step.needs))) {
    return { step, outcome: 'skipped', seconds: 0, output: `${step.needs} does not exist` }
  }
  const started = process.hrtime.bigint()
  let output = ''
  let code = 0
  for (const [program, ...args] of step.commands) {
    if (code !== 0) break
    output = ''
    code = await run(program, args, (text) => (output += text))
  }
  const seconds = Number(process.hrtime.bigint() - started) / 1e9
  return { step, outcome: code === 0 ? 'passed' : 'failed', seconds, output }
}

/** The exit code of the program; 127, as in a shell, if it could not be started. */
function run(program: string, args: readonly string[], onOutput: (text: string) => void): Promise<number> {
  // The programs of node_modules come first, even if npm did not start this process.
  const path = [join(ROOT, 'node_modules', '.bin'), process.env['PATH']].join(delimiter)
  const child = spawn(program === 'node' ? process.execPath : program, args, {
    cwd: ROOT,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onOutput)
  return new Promise((resolve) => {
    child.on('error', (error) => {
      onOutput(`${program}: ${error.message}\n`)
      resolve(127)
    })
    child.on('close', (code) => resolve(code ?? 1))
  })
}
