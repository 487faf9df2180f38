import { DatabaseFailure } from '../database-errors.ts'
import type { Queries, Transaction } from '../database.ts'
import { codeLevelOf, type Migration } from './migration-files.ts'
import type { MigrationHeader } from './migration-header.ts'

/** Table schema_migration. */
export interface AppliedMigration {
  readonly number: number
  readonly name: string
  readonly checksum: string
  /** Null: only releases that contain the migration can run on its schema. */
  readonly oldest_code: number | null
}

/** Migration 0010 adds the column `oldest_code`, so older schemas lack it. */
export async function listApplied(db: Queries): Promise<AppliedMigration[]> {
  const [table] = await db<{ exists: boolean }[]>`
    select to_regclass('schema_migration') is not null as exists`
  if (!table?.exists) return []
  return db<AppliedMigration[]>`
    select number, name, checksum, (to_jsonb(schema_migration) ->> 'oldest_code')::integer as oldest_code
    from schema_migration order by number`
}

export async function createMigrationTable(tx: Transaction): Promise<void> {
  await tx`
    create table if not exists schema_migration (
      number integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`
}

export async function recordMigration(
  tx: Transaction,
  { number, name, checksum }: Migration,
  { phase, oldestCode }: MigrationHeader,
): Promise<void> {
  await tx`insert into schema_migration (number, name, checksum) values (${number}, ${name}, ${checksum})`
  if (phase === 'undeclared') return
  const column = await tx`
    select from pg_attribute where attrelid = 'schema_migration'::regclass and attname = 'oldest_code'`
  if (column.length > 0)
    await tx`update schema_migration set oldest_code = ${oldestCode} where number = ${number}`
}

/** @throws {DatabaseFailure} if this release cannot run on the schema */
export function requireUsable(applied: readonly AppliedMigration[], known: readonly Migration[]): void {
  const level = codeLevelOf(known)
  const byNumber = new Map(known.map((migration) => [migration.number, migration]))
  for (const { number, name, checksum, oldest_code } of applied) {
    const ours = byNumber.get(number)
    if (ours === undefined) {
      if (oldest_code !== null && oldest_code <= level) continue
      throw new DatabaseFailure(
        `The database was brought to ${name} by a newer release, and this one ends at ${known.at(-1)?.name}. ` +
          'It cannot run on that schema. Start the newer release, or restore a backup made before the upgrade.',
      )
    }
    if (checksum !== ours.checksum)
      throw new DatabaseFailure(
        `The database has ${name} with another content than ${ours.name} of this release. ` +
          'Migrations are never edited: start the release that created the database.',
      )
  }
}
