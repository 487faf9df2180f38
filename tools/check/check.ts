/** `npm run check`: all checks that a change must pass, except the tests. */

import { parseArgs } from 'node:util'
import { STEPS } from './check-steps.ts'
import { nearest } from '../requirements/requirement-coverage.ts'
import type { StepResult } from './run-steps.ts'
import { runSteps } from './run-steps.ts'

const HELP = `Runs the checks of this repository, two at a time; exits 1 if one fails.

  npm run check                                 all checks
  npm run check -- --list                       list the checks
  npm run check -- --only lint --only types     selected checks`

const LANES = 2
const SIGN = { passed: '✔', failed: '✖', skipped: '–' } as const

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
})
const names = STEPS.map(({ name }) => name)
const unknown = options.only.find((name) => !names.includes(name))

if (options.help) console.log(HELP)
else if (options.list) console.log(STEPS.map(({ name, what }) => `${name.padEnd(14)}${what}`).join('\n'))
else if (unknown !== undefined) {
  console.error(
    `There is no check ${unknown}; did you mean ${nearest(unknown, names)}? --list names them all.`,
  )
  process.exitCode = 2
} else {
  const started = process.hrtime.bigint()
  const wanted = STEPS.filter(({ name }) => options.only.length === 0 || options.only.includes(name))
  const results = await runSteps(wanted, LANES, print)
  const seconds = Number(process.hrtime.bigint() - started) / 1e9
  const failed = results.filter(({ outcome }) => outcome === 'failed').map(({ step }) => step.name)
  const verdict = failed.length > 0 ? `failed: ${failed.join(', ')}` : 'all passed'
  console.log(
    `\n${results.length} ${results.length === 1 ? 'check' : 'checks'} in ${seconds.toFixed(1)} s, ${verdict}`,
  )
  if (failed.length > 0) process.exitCode = 1
}

/** One line per check, followed by the output of a failed one. */
function print({ step, outcome, seconds, output }: StepResult): void {
  const note = outcome === 'skipped' ? output : step.what
  console.log(`${SIGN[outcome]} ${step.name.padEnd(14)}${seconds.toFixed(1).padStart(5)} s  ${note}`)
  if (outcome === 'failed') console.log(`\n${output.trimEnd()}\n`)
}
