import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { describeSchema, emptyTestDatabase } from '@agent-exchange/testkit'
import { type Database, DatabaseFailure, openDatabase } from '@agent-exchange/database'
import { migrate, type Migration } from '@agent-exchange/database/migrations'
import { readServiceMigrations } from './service-migrations.ts'

const open = (target: string) => openDatabase({ target, maximumConnections: 2, applicationName: 'test' })

/** A database without any table. */
async function emptyDatabase(): Promise<AsyncDisposable & { url: string; db: Database }> {
  const database = await emptyTestDatabase()
  const db = open(database.url)
  return {
    url: database.url,
    db,
    [Symbol.asyncDispose]: async () => {
      await db.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

test('ten processes that start at once apply each migration once', async () => {
  await using database = await emptyDatabase()
  const starters = Array.from({ length: 10 }, () => open(database.url))
  const applied = await Promise.all(starters.map((db) => migrate(db, readServiceMigrations())))
  await Promise.all(starters.map((db) => db.end()))
  const names = readServiceMigrations().map(({ name }) => name)
  assert.deepEqual(applied.flatMap((each) => each.applied).toSorted(), names)
  const recorded = await database.db`select name from schema_migration order by number`
  assert.deepEqual(
    recorded.map(({ name }) => String(name)),
    names,
  )
})

test('[AUTH-02] clients of the first release are still there, with the credential that their tokens were issued to', async () => {
  await using database = await emptyDatabase()
  const { db } = database
  const migrations = readServiceMigrations()
  await migrate(db, migrations.slice(0, 1))
  await db`insert into organization (organization_id, name, created_at) values ('org_a', 'A', now())`
  await db`insert into oauth_client (client_id, organization_id, authentication, public_jwk, created_at)
           values ('client_a', 'org_a', 'private_key_jwt', '{}', now())`
  await migrate(db, migrations)
  const rows = await db<{ credential_version: number }[]>`
    select credential_version from oauth_client where client_id = 'client_a' and public_jwk = '{}'`
  assert.deepEqual([...rows], [{ credential_version: 0 }])
})

const made = (number: number, sql: string): Migration => ({
  number,
  name: `000${number}-made.sql`,
  sql,
  checksum: sql,
})

test('a later release adds what is missing, and a failed migration leaves nothing of itself', async () => {
  await using database = await emptyDatabase()
  const { db } = database
  const first = made(1, 'create table one (id int)')
  const broken = made(2, 'create table two (id int); select 1 / 0')
  assert.deepEqual((await migrate(db, [first])).applied, ['0001-made.sql'])
  await assert.rejects(migrate(db, [first, broken]), /division by zero/u)
  const [two] = await db`select to_regclass('two') as name`
  assert.equal(two?.['name'], null)
  const mended = made(2, 'create table two (id int)')
  assert.deepEqual((await migrate(db, [first, mended])).applied, ['0002-made.sql'])
  assert.deepEqual((await migrate(db, [first, mended])).applied, [])
})

const refused = (says: RegExp) => (error: unknown) =>
  error instanceof DatabaseFailure && says.test(error.message)

test('a database of a newer release, or with an altered migration, is refused with a sentence', async () => {
  await using database = await emptyDatabase()
  const first = made(1, 'select 1')
  const second = made(2, 'select 2')
  await migrate(database.db, [first, second])
  await assert.rejects(
    migrate(database.db, [first]),
    refused(/brought to 0002-made\.sql by a newer release/u),
  )
  const altered = { ...first, checksum: 'other' }
  await assert.rejects(migrate(database.db, [altered, second]), refused(/another content .* never edited/u))
})

test('[AUD-02][O-43] a database of the first release keeps its receipts and threads, and says which receipts are unused', async () => {
  await using database = await emptyDatabase()
  const { db } = database
  const [first, ...later] = readServiceMigrations()
  assert.ok(first)
  await migrate(db, [first])
  const entries = JSON.stringify({ thread_id: 'thread_a' })
  await db`
    insert into policy_receipt select 'receipt_' || name, 'pkg_' || name, 'org_a', 'org_b', '{}', now(), true,
      'audit_' || name, ${entries}, 'key' from unnest('{used,unused}'::text[]) as name`
  await db`
    insert into thread (thread_id, transport_mode, protocol_version, created_at, pairs)
    values ('thread_a', 'native', 'svc/1.0', now(), '{}')`
  await db`
    insert into package select (json_populate_record(null::package, json_build_object('package_id', 'pkg_used',
      'thread_id', 'thread_a', 'thread_position', 1, 'sender_org_id', 'org_a', 'sender_agent_id', 'agent_a',
      'recipient_org_id', 'org_b', 'recipient_agent_id', 'agent_b', 'transport_mode', 'native', 'state', 'accepted',
      'metadata', '{}', 'content_digest', 'd', 'signing_key_id', 'key', 'policy_receipt_id', 'receipt_used',
      'created_at', now(), 'expires_at', now(), 'accepted_at', now(), 'updated_at', now(), 'correlation_id', 'c'))).*`
  await migrate(db, [first, ...later])
  const receipts = await db<{ package_id: string; thread_id: string | null }[]>`
    select package_id, thread_id from policy_receipt order by package_id desc`
  assert.deepEqual(
    receipts.map((row) => ({ ...row })),
    [
      { package_id: 'pkg_used', thread_id: null },
      { package_id: 'pkg_unused', thread_id: 'thread_a' },
    ],
  )
  const [thread] = await db<{ known: boolean }[]>`select audit_recorded_at >= created_at as known from thread`
  assert.equal(thread?.known, true)
})

test('schema.txt is what the migrations add up to', async () => {
  await using database = await emptyTestDatabase()
  const db = open(database.url)
  await migrate(db, readServiceMigrations())
  const committed = readFileSync(new URL('../../schema.txt', import.meta.url), 'utf8')
  const actual = await describeSchema(db)
  await db.end()
  assert.equal(actual, committed, 'Run `npm run generate -- schema` and commit schema.txt.')
})
