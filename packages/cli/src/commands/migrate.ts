import { readDatabasePlace, type DatabasePlace } from '@agent-exchange/service/config'
import {
  countByRole,
  migrate,
  openPlace,
  planMigrations,
  readServiceMigrations,
  type Migrated,
  type MigrationPlan,
} from '@agent-exchange/service/migrations'
import { Command } from 'commander'
import { asFailure } from '../service-failure.ts'

const EXAMPLES = `
The database is that of DATABASE_URL, or the embedded one in AEX_DATA_DIR. \`aex serve\` migrates as well: this command
does it before the first new process starts. An expand migration adds to the schema while processes of the previous
release run. A contract migration removes what they use: it waits until they have stopped and its backfill is complete,
and then a running process applies it.

Examples:
  $ aex migrate --plan              what would be applied, what it locks, whether running processes can stay
  $ aex migrate --plan --json
  $ DATABASE_URL=postgres://… aex migrate`

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('Migrate the database to this release, or show what that would do')
    .option('--plan', 'change nothing and show what would be done')
    .option('--json', 'print one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async ({ plan, json }: { plan?: boolean; json?: boolean }) => {
      const result = await run(plan ?? false)
      if (json) console.log(JSON.stringify(result, undefined, 2))
      else console.log(('applied' in result ? migratedText(result) : planText(result)).join('\n'))
    })
}

const log = (line: string) => console.error(line)

async function run(isPlan: boolean): Promise<MigrationPlan | Migrated> {
  let place: DatabasePlace | undefined
  try {
    place = readDatabasePlace(process.env)
    await using opened = await openPlace(place, log)
    return await (isPlan
      ? planMigrations(opened.db, readServiceMigrations())
      : migrate(opened.db, readServiceMigrations()))
  } catch (error) {
    throw asFailure(error, place)
  }
}

function migratedText({ applied, waiting }: Migrated): string[] {
  const lines =
    applied.length > 0
      ? applied.map((name) => `Applied ${name}`)
      : ['Nothing to apply: the schema is that of this release.']
  if (!waiting) return lines
  const { older_processes: older, backfill } = waiting
  return [
    ...(applied.length > 0 ? lines : []),
    `${waiting.name} waits${reasons(older.length > 0 ? countByRole(older) : undefined, backfill)}.`,
    'A running process of this release applies it as soon as it can.',
  ]
}

function reasons(older: string | undefined, backfill: boolean): string {
  const parts = [
    ...(older === undefined ? [] : [` until older processes have stopped (${older})`]),
    ...(backfill ? [' until its backfill is complete'] : []),
  ]
  return parts.join(' and')
}

function planText({
  database,
  release,
  processes,
  migrations,
  running_processes_can_stay,
}: MigrationPlan): string[] {
  const running = processes.length === 0 ? 'none' : countByRole(processes)
  const state = [
    `Database  ${database ?? 'empty'}`,
    `Release   ${release ?? 'without migrations'}`,
    `Running   ${running}`,
    '',
  ]
  if (migrations.length === 0) return [...state, 'Nothing to apply.']
  return [
    ...state,
    ...migrations.flatMap(migrationText),
    '',
    running_processes_can_stay
      ? 'Running processes can stay: start this release beside them, then stop them one after the other.'
      : 'Running processes cannot stay: stop them all before you start this release.',
  ]
}

function migrationText(migration: MigrationPlan['migrations'][number]): string[] {
  const { name, phase, oldest_code, locks, backfill, waits_for_backfill, older_processes } = migration
  const lockText = locks?.map(({ table, mode }) => `${table} (${mode})`).join(', ')
  const isWaiting = phase === 'contract' && (older_processes.length > 0 || waits_for_backfill)
  const older = older_processes.length > 0 ? countByRole(older_processes) : undefined
  return [
    `${name}  ${phase}`,
    phase === 'undeclared'
      ? '  declares nothing: no older release can run beside it, and any table may be locked'
      : `  runs beside releases that end at ${String(oldest_code).padStart(4, '0')} or later`,
    ...(lockText === undefined ? [] : [`  locks briefly: ${lockText === '' ? 'nothing' : lockText}`]),
    ...(backfill === undefined ? [] : [`  backfill, by running processes in steps: ${backfill}`]),
    ...(isWaiting ? [`  waits${reasons(older, waits_for_backfill)}`] : []),
  ]
}
