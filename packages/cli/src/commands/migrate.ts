import { readDatabasePlace, type DatabasePlace } from '@agent-exchange/service/config'
import {
  migrate,
  migratedText,
  openPlace,
  planMigrations,
  planText,
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
