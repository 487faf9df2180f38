import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { killed } from '../shared/serve-process.ts'
import { newLedger } from './company-program.ts'
import type { Scene } from './scene.ts'
import { exchangeQuestions, failuresOf, type TrialTerms } from './try-kills.ts'

const HOUR_MS = 3_600_000
const QUESTIONS = { full: 60, quick: 10 } as const
const SHIFTED_CLOCK = fileURLToPath(new URL('shifted-clock.ts', import.meta.url))

/** PostgreSQL is out of reach for a while. */
export async function tryOutage(scene: Scene, { isQuick, report, line }: TrialTerms): Promise<void> {
  const questions = isQuick ? QUESTIONS.quick : QUESTIONS.full
  await report.step('outage', 'PostgreSQL is away, then back, without a restart', async () => {
    const ledger = newLedger()
    const asked = exchangeQuestions(scene, ledger, { questions, name: 'away', line })
    await sleep(500)
    scene.databasePort.takeAway()
    const seconds = isQuick ? 5 : 60
    await sleep(seconds * 1_000)
    scene.databasePort.restore()
    await asked
    line(`failed attempts of programs: ${failuresOf(ledger)}`)
    return `${seconds} s away; ${ledger.asked.size + ledger.answered.size} packages, none lost`
  })
}

/** The clock of one instance of each gateway is wrong by an hour. */
export async function tryClocks(scene: Scene, { isQuick, report, line }: TrialTerms): Promise<void> {
  const questions = isQuick ? QUESTIONS.quick : QUESTIONS.full
  await report.step('clocks', 'the clock of one instance is an hour ahead', async () => {
    const ledger = newLedger()
    for (const { instances } of scene.companies) {
      const [first] = instances
      if (!first) continue
      await killed(first.current())
      await first.start({ NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`, AHEAD_MS: String(HOUR_MS) })
    }
    await exchangeQuestions(scene, ledger, { questions, name: 'clock', line })
    line(`failed attempts of programs: ${failuresOf(ledger)}`)
    return `${ledger.asked.size + ledger.answered.size} packages, none lost`
  })
}
