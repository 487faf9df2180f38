import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ROOT } from '../tools/repository/repository-files.ts'
import type { Trial } from './trial-list.ts'

export interface TrialResult {
  readonly name: string
  readonly code: number
  readonly seconds: number
  /** Its lines `skipped: WHY`. */
  readonly skipped: readonly string[]
}

export interface Mode {
  /** Holds a folder for each trial. */
  readonly folder: string
  readonly isQuick: boolean
}

/** The trial gets the terminal. Returns its exit code. */
export async function runOne(trial: Trial, mode: Mode, options: readonly string[]): Promise<number> {
  return exitCode(start(trial, mode, options, 'inherit'))
}

/** One after the other, each in a process of its own. */
export async function runSeveral(
  trials: readonly Trial[],
  mode: Mode,
  print: (line: string) => void,
): Promise<TrialResult[]> {
  const results: TrialResult[] = []
  for (const trial of trials) {
    const started = performance.now()
    const skipped: string[] = []
    print(`\n▶ ${trial.name}: ${trial.what}`)
    const child = start(trial, mode, [], 'pipe')
    for (const input of [child.stdout, child.stderr])
      if (input)
        createInterface({ input }).on('line', (line) => {
          if (line.startsWith('skipped: ')) skipped.push(line)
          print(line)
        })
    const code = await exitCode(child)
    results.push({ name: trial.name, code, seconds: (performance.now() - started) / 1_000, skipped })
  }
  return results
}

function start(
  { name, quick = [] }: Trial,
  { folder, isQuick }: Mode,
  options: readonly string[],
  output: 'inherit' | 'pipe',
) {
  const args = [...(isQuick ? quick : []), ...options]
  return spawn(process.execPath, ['-C', 'source', join(folder, name, 'main.ts'), ...args], {
    cwd: ROOT,
    stdio: ['inherit', output, output],
  })
}

/** Signals are forwarded to the trial, which ends its own processes first. */
async function exitCode(child: ReturnType<typeof start>): Promise<number> {
  const forward = (signal: NodeJS.Signals) => void child.kill(signal)
  process.on('SIGINT', forward).on('SIGTERM', forward)
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    return code ?? 1
  } finally {
    process.off('SIGINT', forward).off('SIGTERM', forward)
  }
}
