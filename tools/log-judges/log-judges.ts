/** `npm run test:log`: programs of other people judge the transparency log of a running exchange. */

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReport, type Report } from '../outside/report.ts'
import { buildJudges, type Judges } from './go-judges.ts'
import { tryFsck } from './try-fsck.ts'
import { tryOwnWitness } from './try-own-witness.ts'
import { tryWitnesses } from './try-witnesses.ts'

const HELP = `Runs tessera, torchwood and omniwitness against new exchanges; exits 1 if one finds a defect.

  npm run test:log                     everything; a missing tool is skipped with its reason
  npm run test:log -- fsck             tessera's fsck on a log of two processes
  npm run test:log -- witnesses        outside witnesses, torchwood's verifier, a mirror, recovery
  npm run test:log -- own-witness      tessera's client against aex witness serve`

export interface LogTrial {
  readonly judges: Judges
  readonly folder: string
  readonly report: Report
}

const TRIALS = { fsck: tryFsck, witnesses: tryWitnesses, 'own-witness': tryOwnWitness } as const
type Trial = keyof typeof TRIALS

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !Object.hasOwn(TRIALS, name))
if (unknown !== undefined) {
  console.log(HELP)
  if (!/^(?:-h|--help)$/u.test(unknown)) process.exitCode = 2
} else await run()

async function run(): Promise<void> {
  const report = createReport()
  const folder = mkdtempSync(join(tmpdir(), 'aex-log-judges-'))
  // Started by root, PostgreSQL runs as another user, who must reach its own folder.
  chmodSync(folder, 0o711)
  // A signal alone would not run the exit handlers, which end child processes.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  let judges: Judges | undefined
  await report.step('go build', 'tessera, torchwood, omniwitness', async () => {
    judges = await buildJudges()
    return 'from the Go module registry, or cached'
  })
  for (const name of Object.keys(TRIALS) as Trial[])
    if (judges && (wanted.length === 0 || wanted.includes(name)))
      await attempt(name, { judges, folder, report })
  report.print()
  // A failed trial may have left a connection open; its processes end with this one.
  process.exit(report.failed() ? 1 : 0)
}

/** A failure outside the steps of a trial counts as well. */
async function attempt(name: Trial, trial: LogTrial): Promise<void> {
  try {
    await TRIALS[name](trial)
  } catch (error) {
    await trial.report.step(name, 'preparation', () => Promise.reject(error as Error))
  }
}
