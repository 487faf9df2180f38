import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyTestDatabase } from '@agent-exchange/testkit'
import { type Database, openDatabase } from '@agent-exchange/database'
import { migrate } from '@agent-exchange/database/migrations'
import { secondsAfter, systemClock } from '@agent-exchange/server/clock'
import { orderedId } from '../kernel/ids.ts'
import { readServiceMigrations } from './service-migrations.ts'

const [PREPARE, SWITCH] = ['0014-prepare-partitions.sql', '0015-partitions.sql']
const migrations = readServiceMigrations()
const upTo = (name: string) => migrations.filter((migration) => migration.name <= name)
const before = (name: string) => migrations.filter((migration) => migration.name < name)
const open = (target: string) => openDatabase({ target, maximumConnections: 6, applicationName: 'test' })
const inDays = (days: number) => secondsAfter(systemClock.now(), days * 86_400)

async function insertContent(db: Database, id: string, expiresAt: string): Promise<void> {
  await db`insert into package_content (expires_at, part, package_id, before, payload, after)
    values (${expiresAt}, 0, ${id}, '', 'x', '')`
}

async function insertAttempt(db: Database, id: string): Promise<void> {
  await db`insert into delivery_attempt (delivery_id, attempt, started_at, outcome, details)
    values (${id}, 1, now(), 'delivered', '{}')`
}

const idsOf = async (db: Database) => {
  const rows = await db<{ id: string }[]>`
    select package_id as id from package_content union all select delivery_id from delivery_attempt order by 1`
  return rows.map(({ id }) => id)
}

/** The partitions with their number of rows. */
async function partitionsOf(db: Database): Promise<Record<string, number>> {
  const rows = await db<{ name: string; count: number }[]>`
    select name, count(*) as count from (
      select tableoid::regclass::text as name from package_content
      union all select tableoid::regclass::text from delivery_attempt) as each
    group by name`
  return Object.fromEntries(rows.map(({ name, count }) => [name.replace(/\d{8}$/, 'BOUND'), count]))
}

test('an upgrade keeps every row, also those that the previous release writes between the two migrations', async () => {
  await using database = await emptyTestDatabase()
  const db = open(database.url)
  await migrate(db, before(PREPARE))
  const old = orderedId('dlv', inDays(-30))
  await insertContent(db, 'pkg_expired', inDays(-3))
  await insertContent(db, 'pkg_usual', inDays(2))
  await insertContent(db, 'pkg_forever', '9999-12-31T23:59:59Z')
  await insertAttempt(db, old)
  await migrate(db, upTo(PREPARE))
  const fresh = orderedId('dlv', systemClock.now())
  await insertContent(db, 'pkg_between', inDays(2))
  await insertContent(db, 'pkg_between_late', inDays(300))
  await insertAttempt(db, fresh)
  // From a clock that is wrong by a year.
  const ahead = orderedId('dlv', inDays(365))
  await insertAttempt(db, ahead)
  const ids = [
    old,
    fresh,
    ahead,
    'pkg_between',
    'pkg_between_late',
    'pkg_expired',
    'pkg_forever',
    'pkg_usual',
  ]
  assert.deepEqual(await idsOf(db), ids.toSorted())
  await migrate(db, upTo(SWITCH))
  assert.deepEqual(await idsOf(db), ids.toSorted())
  assert.deepEqual(await partitionsOf(db), {
    package_content_00010101_BOUND: 3,
    package_content_default: 2,
    delivery_attempt_00010101_BOUND: 2,
    delivery_attempt_default: 1,
  })
  // The statement with which the previous release removes contents.
  await db.begin(async (tx) => {
    await tx`select set_config('aex.retention', 'on', true)`
    const { count } = await tx`
      delete from package_content where (expires_at, package_id) in (
        select expires_at, package_id from package_content where expires_at < now() and part = 0
        order by expires_at, package_id limit 1000)`
    assert.equal(count, 1)
  })
  await assert.rejects(db`delete from package_content`, /append-only/)
  await assert.rejects(db`truncate package_content_default`, /append-only/)
  await db.end()
})

test('writers go on during the upgrade: no write fails, and none is lost', async () => {
  await using database = await emptyTestDatabase()
  const db = open(database.url)
  const writers = open(database.url)
  await migrate(db, before(PREPARE))
  await insertContent(db, 'pkg_first', inDays(1))
  await insertAttempt(db, orderedId('dlv', inDays(-1)))
  let isOver = false
  let written = 0
  const write = async () => {
    while (!isOver) {
      const number = written++
      // Before and after every bound.
      await insertContent(writers, `pkg_${number}`, inDays(number % 40))
      await insertAttempt(writers, orderedId('dlv', systemClock.now()))
    }
  }
  const writing = Promise.all([write(), write(), write()])
  await migrate(db, upTo(SWITCH))
  isOver = true
  await writing
  assert.ok(written > 0)
  assert.equal((await idsOf(db)).length, 2 * written + 2)
  await Promise.all([db.end(), writers.end()])
})

test('an empty table becomes the default partition', async () => {
  await using database = await emptyTestDatabase()
  const db = open(database.url)
  await migrate(db, upTo(PREPARE))
  // Written by the previous release after the first migration found no row.
  await insertContent(db, 'pkg_between', inDays(2))
  await migrate(db, upTo(SWITCH))
  assert.deepEqual(await partitionsOf(db), { package_content_default: 1 })
  await db.end()
})

test('with very many contents that never expire, the table becomes the default partition', async () => {
  await using database = await emptyTestDatabase()
  const db = open(database.url)
  await migrate(db, before(PREPARE))
  await db`
    insert into package_content (expires_at, part, package_id, before, payload, after)
    select '9999-12-31', 0, 'pkg_' || number, '', '', '' from generate_series(1, 2001) as number`
  await migrate(db, upTo(SWITCH))
  assert.deepEqual(await partitionsOf(db), { package_content_default: 2001 })
  await db.end()
})
