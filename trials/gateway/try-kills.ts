import { until } from '@agent-exchange/testkit'
import type { Report } from '../shared/report.ts'
import { each } from '../shared/ledger-checks.ts'
import { startClients } from '../shared/ledger.ts'
import { newLedger, programOf, type Ledger } from './company-program.ts'
import { checkCapsules, checkLedger } from './final-checks.ts'
import { startKilling } from './kills.ts'
import type { Market, Scene } from './scene.ts'

const ASKING = 3
const HANDLING = 3
const REST_MS = 300_000
/** The embedded server gives up after more restarts than this in a row. */
const DATABASE_KILLS = 4

export interface TrialTerms {
  readonly isQuick: boolean
  /** Of each company under kills. Defaults to 50 or 500. */
  readonly questions: number | undefined
  readonly report: Report
  readonly line: (text: string) => void
}

/** Questions both ways, each answered by the other company, while instances, database and module are killed. */
export async function tryKills(
  scene: Scene,
  { isQuick, questions = isQuick ? 50 : 500, report, line }: TrialTerms,
): Promise<void> {
  const ledger = newLedger()
  const passed = await report.step(
    'kills',
    'packages both ways, each handled and answered once',
    async () => {
      const kills = startKilling(scene, {
        most: isQuick ? 8 : 60,
        databaseKills: isQuick ? 2 : DATABASE_KILLS,
        isQuick,
      })
      const failure = await exchangeQuestions(scene, ledger, { questions, name: 'killed', line }).then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
      await kills.stop()
      if (failure) throw failure.error
      const counts = [...kills.counts].map(([victim, count]) => `${count} ${victim}`).join(', ')
      line(`killed: ${counts}`)
      line(`failed attempts of programs: ${failuresOf(ledger)}`)
      for (const { instances } of scene.companies)
        for (const instance of instances) instance.internalErrors().forEach((text) => line(`500: ${text}`))
      return `${await checkLedger(scene, ledger)}; 0 lost, 0 sent twice, 0 handled again; killed: ${counts}`
    },
  )
  if (passed)
    await report.step('kills', 'the capsule of every package verifies', () => checkCapsules(scene, ledger))
}

/** Resolves when every question was answered and every answer arrived. */
export async function exchangeQuestions(
  { companies }: Pick<Market, 'companies'>,
  ledger: Ledger,
  { questions, name, line }: { questions: number; name: string; line: TrialTerms['line'] },
): Promise<void> {
  const [first, second] = companies
  const pairs = [
    [first, second],
    [second, first],
  ] as const
  const handlers = companies.map((company) => {
    const program = programOf(company, company.keys.handling, ledger)
    return startClients(HANDLING, async () => {
      await program.takeTurn()
      return true
    })
  })
  const failed = Promise.race(handlers.map(({ finished }) => finished))
  const all = async () => {
    await Promise.all(
      pairs.map(async ([from, to]) => {
        const program = programOf(from, from.keys.asking, ledger)
        const texts = Array.from({ length: questions }, (_, number) => `${name} ${from.name} ${number}`)
        await each(texts, (text) => program.ask(to, text), ASKING)
        line(`${from.name} has asked ${questions} questions`)
      }),
    )
    await until('all answers', () => ledger.arrived.size >= ledger.asked.size, {
      limitMs: REST_MS,
      pollMs: 200,
    })
  }
  try {
    await Promise.race([all(), failed])
  } finally {
    await Promise.allSettled(handlers.map((load) => load.stop()))
  }
}

export const failuresOf = ({ failures }: Ledger) =>
  [...failures].map(([kind, count]) => `${count} ${kind}`).join(', ') || 'none'
