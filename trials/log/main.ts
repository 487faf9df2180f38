/** `npm run test:log`: programs of other people judge the transparency log of a running exchange. */

import { runParts } from '../shared/trial-parts.ts'
import { buildJudges, type Judges } from './go-judges.ts'
import type { LogTrial } from './log-trial.ts'
import { tryFsck } from './try-fsck.ts'
import { tryOwnWitness } from './try-own-witness.ts'
import { tryWitnesses } from './try-witnesses.ts'

const HELP = `Runs tessera, torchwood and omniwitness against new exchanges; exits 1 if one finds a defect.

  npm run test:log                     everything; a missing tool is skipped with its reason
  npm run test:log -- fsck             tessera's fsck on a log of two processes
  npm run test:log -- witnesses        outside witnesses, torchwood's verifier, a mirror, recovery
  npm run test:log -- own-witness      tessera's client against aex witness serve`

const TRIALS = { fsck: tryFsck, witnesses: tryWitnesses, 'own-witness': tryOwnWitness } as const
type Name = keyof typeof TRIALS

await runParts({
  help: HELP,
  names: Object.keys(TRIALS) as Name[],
  async run(wanted, tools) {
    let judges: Judges | undefined
    await tools.report.step('go build', 'tessera, torchwood, omniwitness', async () => {
      judges = await buildJudges()
      return 'from the Go module registry, or cached'
    })
    if (!judges) return
    for (const name of wanted) await attempt(name, { ...tools, judges })
  },
})
// A failed trial may have left a connection open; its processes end with this one.
process.exit()

/** A failure outside the steps of a trial counts as well. */
async function attempt(name: Name, trial: LogTrial): Promise<void> {
  try {
    await TRIALS[name](trial)
  } catch (error) {
    await trial.report.step(name, 'preparation', () => Promise.reject(error))
  }
}
