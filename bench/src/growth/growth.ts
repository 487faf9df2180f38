import { statfsSync } from 'node:fs'
import type { Area, AreaContext, AreaResult, Table } from '../area.ts'
import { startExchange } from '../exchange/exchange.ts'
import { makeFolder, type Folder } from '../exchange/folder.ts'
import { open, startPostgres, type DatabaseTarget } from '../exchange/postgres-server.ts'
import { formatNumber } from '../report/units.ts'
import { measureOperations } from './measured-operations.ts'
import { explainStatements, forgetStatements, type Explained } from './statements.ts'
import { makeStoredWorld } from './stored-world.ts'

/** Whether anything gets slower as data grows. */
export const growthArea: Area = {
  name: 'growth',
  what: 'latency of every operation with 10 thousand and with 1 million stored packages; plans of all statements',
  isLong: true,
  run,
}

/** Settings for bulk loading; the measurement uses the defaults. */
const SETTINGS = { shared_preload_libraries: 'pg_stat_statements', max_wal_size: '8GB' }
const BYTES_PER_PACKAGE = 40_000
const SHOWN_STATEMENTS = 25

interface Stage {
  readonly label: string
  readonly databaseSize: string
  readonly explained: readonly Explained[]
}

async function run({ sizes, workers, progress }: AreaContext): Promise<AreaResult> {
  using folder = makeFolder()
  requireSpace(folder, Math.max(...sizes))
  await using postgres = await startPostgres(folder.path, SETTINGS)
  const database = postgres.main
  const superuser = postgres.asSuperuser(database)
  await using exchange = await startExchange({
    name: 'growth',
    database,
    folder: folder.path,
    env: { AEX_WORKERS: String(workers) },
  })
  progress('10,000 organizations and a thread of 10,000 packages')
  const stored = await makeStoredWorld(exchange.world, database)
  const latencies: Map<string, number>[] = []
  const stages: Stage[] = []
  for (const size of sizes) {
    const label = size.toLocaleString('en')
    await stored.grow(size, (done) => progress(`${done.toLocaleString('en')} of ${label} packages`))
    progress(`vacuum and analyze with ${label} packages`)
    const databaseSize = await tidy(superuser)
    await forgetStatements(superuser)
    latencies.push(
      await measureOperations(exchange.world, stored, (name) => progress(`${label} packages: ${name}`)),
    )
    progress(`${label} packages: explaining every statement`)
    stages.push({ label, databaseSize, explained: await explainStatements(superuser, database.user) })
  }
  return {
    title: 'Growth',
    figures: [],
    ratios: [worstRatio(latencies)],
    tables: [latencyTable(sizes, latencies), statementTable(stages.at(-1)?.explained ?? [])],
    notes: [
      'Rows are copies of the rows of one real package, with small contents; half of them go to ' +
        'one organization, the rest to 5,000, from 5,000 others. Plans are generic plans.',
      ...stages.map(findings),
    ],
  }
}

const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(0)

function requireSpace({ path }: Folder, packages: number): void {
  const { bavail, bsize } = statfsSync(path)
  const [free, needed] = [bavail * bsize, packages * BYTES_PER_PACKAGE]
  if (free > needed) return
  throw new Error(
    `${packages} packages take about ${gigabytes(needed)} GB, and ${path} has ${gigabytes(free)} GB left. ` +
      'Set AEX_BENCH_DIR to a larger disk, or --sizes to smaller numbers.',
  )
}

/** Runs vacuum and analyze, and returns the size of the database. */
async function tidy(superuser: DatabaseTarget): Promise<string> {
  // One connection, so that the setting applies to the following statements.
  await using db = open(superuser, 1)
  await db`set statement_timeout = 0`
  await db`vacuum analyze`
  const [row] = await db<{ size: string }[]>`
    select pg_size_pretty(pg_database_size(current_database())) as size`
  await db`checkpoint`
  return row?.size ?? ''
}

function latencyTable(sizes: readonly number[], latencies: readonly Map<string, number>[]): Table {
  const [first] = latencies
  const last = latencies.at(-1)
  return {
    title: 'Latency of one request at a time, median in ms, by packages stored',
    head: ['', ...sizes.map((size) => size.toLocaleString('en')), 'last to first'],
    rows: [...(first ?? new Map<string, number>())].map(([name, value]) => [
      name,
      ...latencies.map((each) => formatNumber(each.get(name) ?? Number.NaN)),
      formatNumber((last?.get(name) ?? Number.NaN) / value),
    ]),
  }
}

function worstRatio(latencies: readonly Map<string, number>[]) {
  const [first] = latencies
  const last = latencies.at(-1)
  const ratios = [...(first ?? [])].map(([name, value]) => (last?.get(name) ?? Number.NaN) / value)
  return {
    id: 'growth_worst_latency',
    label: 'latency with most stored to least, worst operation',
    value: Math.max(...ratios),
  }
}

function statementTable(explained: readonly Explained[]): Table {
  return {
    title: `The ${SHOWN_STATEMENTS} statements that took most time, of ${explained.length}`,
    head: ['', 'calls', 'mean ms', 'large tables read whole'],
    rows: explained
      .slice(0, SHOWN_STATEMENTS)
      .map(({ statement, calls, meanMs, scanned, failure }) => [
        statement.slice(0, 90),
        String(calls),
        formatNumber(meanMs),
        failure === undefined ? scanned.join(', ') || 'none' : 'not explained',
      ]),
  }
}

/** Summarizes the statements at one size. */
function findings({ label, databaseSize, explained }: Stage): string {
  const scanning = explained.filter(({ scanned }) => scanned.length > 0)
  const unexplained = explained.filter(({ failure }) => failure !== undefined)
  const count = explained.length - unexplained.length
  return [
    `${label} packages (${databaseSize}): ${scanning.length} of ${count} statements read a table of more than 1,000 ` +
      `rows from end to end${scanning.length > 0 ? ':' : '.'}`,
    ...scanning.map(({ statement, scanned }) => `  ${scanned.join(', ')}: ${statement}`),
    ...unexplained.map(
      ({ statement, failure }) => `  not explained (${failure}): ${statement.slice(0, 120)}`,
    ),
  ].join('\n')
}
