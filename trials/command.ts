import { parseArgs } from 'node:util'
import { nearest } from '../tools/requirements/requirement-coverage.ts'
import { runOne, runSeveral, type TrialResult } from './run-trials.ts'
import type { Trial } from './trial-list.ts'

const HELP = `Runs trials: longer tests of real processes, some of them with programs of others. Exits 1 if one fails.

  npm run trial -- --list                    what each trial proves and needs
  npm run trial -- faults                    one trial
  npm run trial -- packed browser --quick    several, with fewer repetitions where a trial has a shorter form
  npm run trial -- browser -- web            options after the second -- are those of the trial
  npm run trial -- faults -- --help          lists them

A trial that lacks a tool prints "skipped: WHY" and passes.`

interface Catalogue {
  readonly trials: readonly Trial[]
  /** Holds a folder for each trial. */
  readonly folder: string
}

interface Output {
  log(line: string): void
  error(line: string): void
}

/** Returns the exit code. */
export async function runCommand(
  given: readonly string[],
  { trials, folder }: Catalogue,
  { log, error }: Output,
): Promise<number> {
  const end = given.indexOf('--')
  const [own, options] = end < 0 ? [given, []] : [given.slice(0, end), given.slice(end + 1)]
  const { values, positionals } = parseArgs({
    args: [...own],
    allowPositionals: true,
    options: { list: { type: 'boolean' }, quick: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  })
  const shows = (text: string) => {
    log(text)
    return 0
  }
  const refuses = (text: string) => {
    error(text)
    return 2
  }
  if (values.help) return shows(HELP)
  if (values.list) return shows(trials.map(rowOf).join('\n'))
  const names = trials.map(({ name }) => name)
  const unknown = positionals.find((name) => !names.includes(name))
  if (unknown !== undefined)
    return refuses(
      `There is no trial ${unknown}; did you mean ${nearest(unknown, names)}? --list names them all.`,
    )
  const wanted = trials.filter(({ name }) => positionals.includes(name))
  const [first] = wanted
  if (!first) return refuses(HELP)
  const mode = { folder, isQuick: values.quick === true }
  if (wanted.length === 1) return runOne(first, mode, options)
  if (options.length > 0) return refuses('Options after -- are for one trial: name one.')
  const results = await runSeveral(wanted, mode, log)
  log(`\n${results.map(lineOf).join('\n')}`)
  return results.every(({ code }) => code === 0) ? 0 : 1
}

function rowOf({ name, what, needs }: Trial): string {
  return `${name.padEnd(14)}${what}${needs === undefined ? '' : ` (needs ${needs})`}`
}

function lineOf({ name, code, seconds, skipped }: TrialResult): string {
  const sign = code !== 0 ? '✖' : skipped.length > 0 ? '–' : '✔'
  const note = code !== 0 ? `failed with exit code ${code}` : skipped.join('; ') || 'passed'
  return `${sign} ${name.padEnd(14)}${seconds.toFixed(1).padStart(7)} s  ${note}`
}
