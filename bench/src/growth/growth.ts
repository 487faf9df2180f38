import { statfsSync } from 'node:fs'
import type { Area, AreaContext, AreaResult, Ratio, Table } from '../area.ts'
import { startExchange } from '../exchange/exchange.ts'
import { makeFolder, type Folder } from '../exchange/folder.ts'
import { open, startPostgres, type DatabaseTarget } from '../exchange/postgres-server.ts'
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

const SETTINGS = { shared_preload_libraries: 'pg_stat_statements' }
const BYTES_PER_PACKAGE = 40_000
const SHOWN_STATEMENTS = 25
const SHOWN_CHARACTERS = 90

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
  progress('organizations and a thread of 10,000 packages')
  await using stored = await makeStoredWorld(exchange)
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
    ratios: [worstRatio(latencies)],
    tables: [latencyTable(sizes, latencies), statementTable(stages.at(-1)?.explained ?? [])],
    notes: [
      'Packages are sent through the API, with small contents; half of them go to one organization. Plans are generic plans.',
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
  const names = [...(latencies[0]?.keys() ?? [])]
  return {
    title: 'Latency of one request at a time, median in ms, by packages stored',
    columns: sizes.map((size) => ({ id: `ms_at_${size}`, head: size.toLocaleString('en') })),
    rows: names.map((name) => ({
      id: `growth_${name.replaceAll(/\W+/gu, '_')}`,
      label: name,
      values: latencies.map((each) => [each.get(name) ?? Number.NaN]),
    })),
  }
}

/** Of the operation that got slower most. */
function worstRatio(latencies: readonly Map<string, number>[]): Ratio {
  const last = latencies.at(-1)
  const ratios = [...(latencies[0] ?? [])].map(([name, value]) => ({
    name,
    ratio: (last?.get(name) ?? Number.NaN) / value,
  }))
  const [worst] = ratios.toSorted((left, right) => right.ratio - left.ratio)
  return {
    id: 'growth_worst_latency',
    label: `latency with most stored to least, worst: ${worst?.name}`,
    value: worst?.ratio ?? Number.NaN,
    wanted: { at: 'most', must: 1.3 },
  }
}

function statementTable(explained: readonly Explained[]): Table {
  return {
    title: `The ${SHOWN_STATEMENTS} statements that took most time, of ${explained.length}`,
    columns: [
      { id: 'calls', head: 'calls' },
      { id: 'mean_ms', head: 'mean ms' },
    ],
    rows: explained.slice(0, SHOWN_STATEMENTS).map(({ statement, calls, meanMs }, i) => ({
      id: `growth_statement_${i + 1}`,
      label: statement.slice(0, SHOWN_CHARACTERS),
      values: [[calls], [meanMs]],
    })),
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
