import type { Database } from '../../db/database.ts'
import { migrate, readMigrations } from '../../migrations/migrate.ts'
import { BackupContradiction } from './check.ts'

/** Applies the migrations of this release to the restored copy, as the next start would. */
export async function checkSchema(db: Database): Promise<string> {
  const [last] = await db<{ name: string }[]>`
    select name from schema_migration order by number desc limit 1`
  if (!last) throw new BackupContradiction('The database has no migration.')
  const { applied } = await migrate(db)
  const newest = readMigrations().at(-1)?.name
  return applied.length === 0
    ? `The schema is ${last.name}, that of this release.`
    : `The schema is ${last.name}; this release migrates it to ${newest}.`
}
