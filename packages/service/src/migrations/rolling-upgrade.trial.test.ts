import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { describeSchema, emptyTestDatabase, until } from '@agent-exchange/testkit'
import { type Database, DatabaseFailure, openDatabase } from '@agent-exchange/database'
import {
  codeLevelOf,
  headerOf,
  migrate,
  type Migration,
  planMigrations,
} from '@agent-exchange/database/migrations'
import { readServiceMigrations } from './service-migrations.ts'

/** The first migration of the releases that can run beside each other. */
const FIRST_DECLARED = 10

async function emptyDatabase(): Promise<AsyncDisposable & { url: string; db: Database }> {
  const database = await emptyTestDatabase()
  const db = openDatabase({ target: database.url, maximumConnections: 4, applicationName: 'test' })
  return {
    url: database.url,
    db,
    async [Symbol.asyncDispose]() {
      await db.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

const made = (number: number, sql: string): Migration => {
  const name = `${String(number).padStart(4, '0')}-made.sql`
  return { number, name, sql, checksum: sql }
}
const expand = (number: number, oldest: string, sql: string) =>
  made(number, `-- phase: expand\n-- runs beside: ${oldest}\n${sql}`)
const contract = (number: number, oldest: string, sql: string, waitsWhile = 'false') =>
  made(number, `-- phase: contract\n-- runs beside: ${oldest}\n-- waits while: ${waitsWhile}\n${sql}`)

const START = made(
  1,
  `alter table schema_migration add column oldest_code integer;
   create table service_process (process_id text primary key, role text, started_at timestamptz, seen_at timestamptz,
     code_level integer);
   create table item (id integer primary key, old text)`,
)
const report = (db: Database, id: string, level: number | null) => db`
  insert into service_process values (${id}, 'api', now(), now(), ${level})`
const refused = (says: RegExp) => (error: unknown) =>
  error instanceof DatabaseFailure && says.test(error.message)

test('a release starts again on the schema of the next one if that declares it, and only then', async () => {
  await using database = await emptyDatabase()
  const { db } = database
  const added = expand(2, '0001', 'alter table item add column new text')
  await migrate(db, [START, added])
  assert.deepEqual(await migrate(db, [START]), { applied: [], waiting: undefined })
  const removed = contract(3, '0002', 'alter table item drop column old')
  await migrate(db, [START, added, removed])
  assert.deepEqual(await migrate(db, [START, added]), { applied: [], waiting: undefined })
  const says =
    /brought to 0003-made\.sql by a newer release.*ends at 0001-made\.sql.*Start the newer release/u
  await assert.rejects(migrate(db, [START]), refused(says))
  await assert.rejects(planMigrations(db, [START]), refused(says))
})

test('a contract migration waits for older processes and for its backfill; later expand migrations do not', async () => {
  await using database = await emptyDatabase()
  const { db } = database
  const migrations = [
    START,
    expand(2, '0001', 'alter table item add column new text'),
    contract(3, '0002', 'alter table item drop column old', 'exists (select from item where new is null)'),
    expand(4, '0001', 'alter table item add column other text'),
  ]
  await migrate(db, [START])
  await db`insert into item values (1, 'text')`
  await report(db, 'process_old', 1)
  const first = await migrate(db, migrations)
  assert.deepEqual(first.applied, ['0002-made.sql', '0004-made.sql'])
  const older = [{ process_id: 'process_old', role: 'api', code_level: 1 }]
  assert.deepEqual(first.waiting, { name: '0003-made.sql', older_processes: older, backfill: true })
  await db`update item set new = old`
  assert.deepEqual((await migrate(db, migrations)).waiting, {
    name: '0003-made.sql',
    older_processes: older,
    backfill: false,
  })
  await db`update service_process set code_level = 2 where process_id = 'process_old'`
  assert.deepEqual(await migrate(db, migrations), { applied: ['0003-made.sql'], waiting: undefined })
})

test('a migration that older processes would not survive is refused while they run', async () => {
  await using database = await emptyDatabase()
  const { db } = database
  await migrate(db, [START])
  // Releases before 0010 report no level.
  await report(db, 'process_silent', null)
  const undeclared = made(12, 'alter table item drop column old')
  await assert.rejects(
    migrate(db, [START, undeclared]),
    refused(/0012-made\.sql cannot be applied while .*1 api.*Stop them/u),
  )
  const plan = await planMigrations(db, [START, undeclared])
  assert.equal(plan.running_processes_can_stay, false)
  await db`update service_process set code_level = 12`
  assert.deepEqual((await migrate(db, [START, undeclared])).applied, ['0012-made.sql'])
})

test('a process registers in the transaction that finds nothing to apply, so no contract migration misses it', async () => {
  await using database = await emptyDatabase()
  const { db } = database
  const removed = contract(2, '0002', 'alter table item drop column old')
  const registering = Promise.withResolvers<void>()
  const registered = Promise.withResolvers<void>()
  const older = migrate(db, [START], async (tx) => {
    registering.resolve()
    await registered.promise
    await tx`insert into service_process values ('process_old', 'api', now(), now(), 1)`
  })
  await registering.promise
  const newer = migrate(db, [START, removed])
  registered.resolve()
  await older
  assert.equal((await newer).waiting?.older_processes[0]?.process_id, 'process_old')
})

test('a migration gives way to others while a long transaction holds its table, and is applied afterwards', async () => {
  await using database = await emptyDatabase()
  const { db } = database
  await migrate(db, [START])
  const other = openDatabase({ target: database.url, maximumConnections: 4, applicationName: 'test' })
  const held = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const long = other.begin(async (tx) => {
    await tx`select from item`
    held.resolve()
    await release.promise
  })
  await held.promise
  const migrated = migrate(db, [START, expand(2, '0001', 'alter table item add column new text')])
  const isWaiting = async () => {
    const [row] = await other<{ count: number }[]>`
      select count(*) as count from pg_locks where not granted and locktype = 'relation'`
    return (row?.count ?? 0) > 0
  }
  for (const expected of [true, false])
    await until(`waiting: ${expected}`, async () => (await isWaiting()) === expected)
  release.resolve()
  await long
  assert.deepEqual((await migrated).applied, ['0002-made.sql'])
  await other.end()
})

test('every migration since the first rolling upgrade has a header, and contract migrations may come last', async () => {
  const migrations = readServiceMigrations()
  const declared = migrations.filter(({ number }) => number >= FIRST_DECLARED)
  for (const migration of declared) assert.notEqual(headerOf(migration).phase, 'undeclared', migration.name)
  await using database = await emptyDatabase()
  const { db } = database
  const isContract = (migration: Migration) => headerOf(migration).phase === 'contract'
  await migrate(
    db,
    migrations.filter((migration) => !isContract(migration)),
  )
  await migrate(db, migrations)
  const committed = readFileSync(new URL('../../schema.txt', import.meta.url), 'utf8')
  assert.equal(await describeSchema(db), committed)
})

/** Modes that block readers or writers of rows. */
const BLOCKING = ['Share', 'ShareRowExclusive', 'Exclusive', 'AccessExclusive']

test('the locks that a migration declares are those that it takes', async () => {
  await using database = await emptyDatabase()
  const { db } = database
  const migrations = readServiceMigrations()
  for (const [index, migration] of migrations.entries()) {
    if (migration.number < FIRST_DECLARED) continue
    await migrate(db, migrations.slice(0, index))
    const taken = await db
      .begin(async (tx) => {
        // By their names before the migration, which may rename or drop them.
        const before = await tx<{ oid: number; name: string }[]>`
          select oid::int as oid, relname as name from pg_class where relkind in ('r', 'p')`
        const nameOf = new Map(before.map(({ oid, name }) => [oid, name]))
        await tx.unsafe(migration.sql)
        const locks = await tx<{ oid: number; mode: string }[]>`
          select relation::int as oid, mode from pg_locks
          where pid = pg_backend_pid() and locktype = 'relation'`
        throw Object.assign(new Error('rolled back'), {
          locks: locks.map(({ oid, mode }) => ({ table: nameOf.get(oid) ?? '', mode })),
        })
      })
      .catch((error: Error & { locks?: { table: string; mode: string }[] }) => {
        if (!error.locks) throw error
        return error.locks
      })
    assert.deepEqual(strongest(taken), declaredLocks(migration), migration.name)
  }
})

function strongest(locks: readonly { table: string; mode: string }[]): string[] {
  const byTable = new Map<string, number>()
  for (const { table, mode } of locks) {
    const strength = BLOCKING.indexOf(mode.replace(/Lock$/u, ''))
    if (table !== '' && strength >= 0) byTable.set(table, Math.max(strength, byTable.get(table) ?? 0))
  }
  return [...byTable].map(([table, strength]) => `${table} ${BLOCKING[strength]}`).toSorted()
}

function declaredLocks(migration: Migration): string[] {
  const modeOf = (mode: string) =>
    mode
      .split(' ')
      .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
      .join('')
  return headerOf(migration)
    .locks.map(({ table, mode }) => `${table} ${modeOf(mode)}`)
    .toSorted()
}

test('a malformed header is refused', () => {
  const header = (text: string) => () => headerOf(made(7, text))
  assert.throws(header('-- phase: replace\n-- runs beside: 0001'), /phase is expand or contract/u)
  assert.throws(header('-- phase: expand'), /"runs beside" names/u)
  assert.throws(header('-- phase: expand\n-- runs beside: 0008'), /"runs beside" names/u)
  assert.throws(header('-- phase: expand\n-- runs beside: 0006\n-- locks: item'), /"item" is not a lock/u)
  assert.equal(header('-- A comment\n-- phase: expand')().phase, 'undeclared')
})

test('the plan says what is applied, what waits and whether running processes can stay', async () => {
  await using database = await emptyDatabase()
  const { db } = database
  const migrations = readServiceMigrations()
  const base = migrations.filter(({ number }) => number < FIRST_DECLARED)
  await migrate(db, base)
  await db`insert into service_process (process_id, role, started_at, seen_at) values ('process_1', 'api', now(), now())`
  const plan = await planMigrations(db, migrations)
  assert.equal(plan.database, base.at(-1)?.name)
  assert.equal(plan.release, migrations.at(-1)?.name)
  assert.deepEqual(plan.processes, [{ process_id: 'process_1', role: 'api', code_level: 9 }])
  assert.equal(plan.running_processes_can_stay, true)
  const last = plan.migrations.find(({ name }) => name.startsWith('0011-'))
  assert.deepEqual(
    [last?.phase, last?.waits_for_backfill, last?.older_processes.length],
    ['contract', true, 1],
  )
  const [row] = await db<{ count: number }[]>`select count(*) as count from schema_migration`
  assert.equal(row?.count, base.length)
  assert.ok(codeLevelOf(base) < codeLevelOf(migrations))
})
