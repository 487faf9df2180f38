import type { Database } from '@agent-exchange/database'
import { migrate } from '@agent-exchange/database/migrations'
import { BackupContradiction } from './check.ts'
import { readServiceMigrations } from '../../migrations/service-migrations.ts'

/** Applies the migrations of this release to the restored copy, as the next start would. */
export async function checkSchema(db: Database): Promise<string> {
  const [last] = await db<{ name: string }[]>`
    select name from schema_migration order by number desc limit 1`
  if (!last) throw new BackupContradiction('The database has no migration.')
  const { applied } = await migrate(db, readServiceMigrations())
  const newest = readServiceMigrations().at(-1)?.name
  return applied.length === 0
    ? `The schema is ${last.name}, that of this release.`
    : `The schema is ${last.name}; this release migrates it to ${newest}.`
}
