import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startCluster, type Cluster } from '../failover/cluster.ts'
import { FAULTS } from '../failover/faults.ts'
import { findPrograms } from '../failover/programs.ts'
import { Skipped } from '../shared/report.ts'
import { newLedger } from './company-program.ts'
import { checkCapsules, checkLedger } from './final-checks.ts'
import { startMarket } from './scene.ts'
import { exchangeQuestions, failuresOf, type TrialTerms } from './try-kills.ts'

/** Of each company in one round; rounds follow each other while the database fails over. */
const QUESTIONS = { full: 50, quick: 10 } as const
const WANTED = ['kill -9 of the primary', 'SIGSTOP of the primary'] as const

/** Two gateways on a database whose primary fails, with an exchange of their own. */
export async function tryFailover(folder: string, terms: TrialTerms): Promise<void> {
  const { isQuick, report, line } = terms
  const questions = terms.questions ?? (isQuick ? QUESTIONS.quick : QUESTIONS.full)
  await report.step('failover', 'PostgreSQL fails over under two gateways', async () => {
    const programs = await findPrograms()
    if ('why' in programs) throw new Skipped(programs.why)
    await using cluster = await startCluster(programs, line)
    const place = join(folder, 'failover')
    mkdirSync(place)
    await using market = await startMarket(place, async (name) => {
      const url = await cluster.createDatabase(name)
      return { databaseUrl: url, servedUrl: url }
    })
    const ledger = newLedger()
    let isStriking = true
    const striking = strike(cluster, line).finally(() => (isStriking = false))
    // Awaited below; this avoids an unhandled rejection.
    striking.catch(() => undefined)
    for (let round = 1; isStriking; round++)
      await exchangeQuestions(market, ledger, { questions, name: `round ${round}`, line })
    const struck = await striking
    line(`failed attempts of programs: ${failuresOf(ledger)}`)
    const packages = await checkLedger(market, ledger)
    return `${struck} failovers; ${packages}; 0 lost, 0 sent twice, 0 handled again; capsules: ${await checkCapsules(market, ledger)}`
  })
}

/** One fault after the other while the programs exchange questions. Returns how many. */
async function strike(cluster: Cluster, line: TrialTerms['line']): Promise<number> {
  for (const name of WANTED) {
    await FAULTS[name]?.(cluster)
    line(`${name}: another node is the primary`)
    await cluster.patroni.untilHealthy()
  }
  return WANTED.length
}
