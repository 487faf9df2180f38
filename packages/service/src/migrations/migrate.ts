import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { DatabaseFailure } from '../db/database-errors.ts'
import type { Database, Transaction } from '../db/database.ts'

/** Beside `src` and `dist` alike. */
const FOLDER = new URL('../../migrations/', import.meta.url)
const FILE_NAME = /^(\d{4})-[a-z0-9-]+\.sql$/u
/** Any number that no other advisory lock uses. */
const MIGRATION_LOCK = 7_204_119
const OLDEST_SERVER = 15

export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  /** sha256 of the file: an applied migration is never edited. */
  readonly checksum: string
}

/** The migrations of this release, in order. */
export function readMigrations(folder: URL = FOLDER): Migration[] {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
  return files.map((name, index) => {
    const number = Number(FILE_NAME.exec(name)?.[1])
    if (number !== index + 1) throw new Error(`${name}: migrations are numbered from 0001 without a gap`)
    const sql = readFileSync(new URL(name, folder), 'utf8')
    return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
  })
}

/**
 * Migrates the database to this release, forward only. Processes may do so concurrently: each migration is one
 * transaction under one lock, and the second process finds it applied.
 *
 * @returns the migrations that this call applied
 * @throws {DatabaseFailure} if the server is too old, or the database was not made by this release or an earlier one
 */
export async function migrate(db: Database, migrations = readMigrations()): Promise<string[]> {
  await checkServer(db)
  const applied: string[] = []
  for (let step = 0; step <= migrations.length; step++) {
    const name = await db.begin((tx) => applyNext(tx, migrations))
    if (name === undefined) break
    applied.push(name)
  }
  return applied
}

async function checkServer(db: Database): Promise<void> {
  const [row] = await db<{ version: string }[]>`select current_setting('server_version') as version`
  const major = Number.parseInt(row?.version ?? '', 10)
  if (major >= OLDEST_SERVER) return
  throw new DatabaseFailure(
    `The database server is PostgreSQL ${row?.version}. Use PostgreSQL ${OLDEST_SERVER} or later.`,
  )
}

async function applyNext(tx: Transaction, migrations: readonly Migration[]): Promise<string | undefined> {
  // Both the wait for another process and a migration may take long.
  await tx`set local statement_timeout = 0`
  await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`
  await tx`
    create table if not exists schema_migration (
      number integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`
  const done = await tx<Migration[]>`select number, name, checksum from schema_migration order by number`
  refuseForeign(done, migrations)
  const next = migrations[done.length]
  if (next === undefined) return undefined
  await tx.unsafe(next.sql)
  await tx`
    insert into schema_migration (number, name, checksum) values (${next.number}, ${next.name}, ${next.checksum})`
  return next.name
}

function refuseForeign(done: readonly Omit<Migration, 'sql'>[], known: readonly Migration[]): void {
  for (const [index, { number, name, checksum }] of done.entries()) {
    const ours = known[index]
    if (ours === undefined)
      throw new DatabaseFailure(
        `The database was brought to ${name} by a newer release, and this one ends at ` +
          `${known.at(-1)?.name}. Start that release, or restore a backup made before the upgrade.`,
      )
    if (number !== ours.number || checksum !== ours.checksum)
      throw new DatabaseFailure(
        `The database holds ${name} with another content than this release has in ${ours.name}. ` +
          'Migrations are never edited: start the release that made the database.',
      )
  }
}
