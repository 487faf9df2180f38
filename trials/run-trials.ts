import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
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

/** The trial gets the terminal. Returns its exit code. */
export async function runOne(trial: Trial, isQuick: boolean, options: readonly string[]): Promise<number> {
  return exitCode(start(trial, isQuick, options, 'inherit'))
}

/** One after the other, each in a process of its own. */
export async function runSeveral(
  trials: readonly Trial[],
  isQuick: boolean,
  print: (line: string) => void,
): Promise<TrialResult[]> {
  const results: TrialResult[] = []
  for (const trial of trials) {
    const started = performance.now()
    const skipped: string[] = []
    print(`\n▶ ${trial.name}: ${trial.what}`)
    const child = start(trial, isQuick, [], 'pipe')
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

function start(trial: Trial, isQuick: boolean, options: readonly string[], output: 'inherit' | 'pipe') {
  const [program = '', ...args] = trial.command ?? [`trials/${trial.name}/main.ts`]
  const all = [...args, ...(isQuick ? (trial.quick ?? []) : []), ...options]
  return spawn(process.execPath, ['-C', 'source', resolve(ROOT, program), ...all], {
    cwd: ROOT,
    env: { ...process.env, ...trial.env },
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
