/** `npm run test:faults`: runs the long trials in sequence. */

import { parseArgs } from 'node:util'
import { fuzz } from './fuzz.ts'
import { killAtFullLoad } from './kill-at-full-load.ts'
import { killCycles } from './kill-cycles.ts'
import { lostAnswers } from './lost-answers.ts'
import { pointInTime } from './point-in-time.ts'
import { postgresVersions } from './postgres-versions.ts'
import { startTogether } from './start-together.ts'
import { testTrials } from './test-trials.ts'
import type { Trial } from './trial.ts'
import { twoProcesses } from './two-processes.ts'
import { webhookKill } from './webhook-kill.ts'

const HELP = `Runs fault-injection trials against the real service; exits 1 if a trial fails.

  npm run test:faults                              all trials
  npm run test:faults -- --list                    list the trials
  npm run test:faults -- --only kill-cycles        selected trials (repeatable)
  npm run test:faults -- --quick                   fewer repetitions
  npm run test:faults -- --only fuzz --requests N  as many requests, for as long as they take`

const TRIALS: readonly Trial[] = [
  testTrials,
  startTogether,
  lostAnswers,
  twoProcesses,
  fuzz,
  webhookKill,
  killCycles,
  killAtFullLoad,
  pointInTime,
  postgresVersions,
]

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    requests: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const names = TRIALS.map(({ name }) => name)
const unknown = options.only.filter((name) => !names.includes(name))

const requests = options.requests === undefined ? undefined : Number(options.requests)

if (options.help) console.log(HELP)
else if (options.list) console.log(TRIALS.map(({ name, what }) => `${name.padEnd(20)}${what}`).join('\n'))
else if (unknown.length > 0) {
  console.error(`There is no trial ${unknown.join(', ')}. There are: ${names.join(', ')}.`)
  process.exitCode = 2
} else if (requests !== undefined && !(Number.isSafeInteger(requests) && requests > 0)) {
  console.error(`--requests takes a whole number above 0, not ${options.requests}.`)
  process.exitCode = 2
} else if (requests !== undefined && options.only.join() !== 'fuzz') {
  console.error('--requests is for the trial fuzz alone: add --only fuzz.')
  process.exitCode = 2
} else {
  const failed: string[] = []
  const wanted = TRIALS.filter(({ name }) => options.only.length === 0 || options.only.includes(name))
  for (const trial of wanted) if (!(await passes(trial))) failed.push(trial.name)
  if (failed.length > 0) console.log(`\nfailed: ${failed.join(', ')}`)
  console.log(`\n${wanted.length - failed.length} passed, ${failed.length} failed`)
  // A failed trial may have left a connection open; its processes have ended.
  process.exit(failed.length > 0 ? 1 : 0)
}

async function passes({ name, what, run }: Trial): Promise<boolean> {
  const started = performance.now()
  const seconds = () => ((performance.now() - started) / 1_000).toFixed(1)
  console.log(`\n▶ ${name}: ${what}`)
  try {
    await run({
      quick: options.quick,
      requests,
      line: (text) => console.log(`  ${seconds().padStart(6)} s  ${text}`),
    })
    console.log(`✔ ${name} passed in ${seconds()} s`)
    return true
  } catch (error) {
    console.log(error instanceof Error ? error.stack : String(error))
    console.log(`✖ ${name} FAILED after ${seconds()} s`)
    return false
  }
}
