import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '@agent-exchange/testkit'
import { openDatabase, type Database, type Transaction } from './database.ts'
import { DatabaseFailure } from './database-errors.ts'
import { checkSameDatabase } from './same-database.ts'

const database = await testDatabase()
const direct = new URL(database.url)
direct.searchParams.set('application_name', 'direct')
const db = openDatabase({
  target: database.url,
  directTarget: direct.href,
  purpose: 'requests',
  maximumConnections: 2,
  applicationName: 'pooled',
})
after(async () => {
  await db.end()
  await database[Symbol.asyncDispose]()
})

const NAMES = ['statement_timeout', 'lock_timeout', 'TimeZone', 'enable_seqscan']

async function settingsOf(to: Database | Transaction, isByIndex = false): Promise<unknown> {
  const query = isByIndex ? to.byIndex : to
  const [row] = await query<{ values: string[] }[]>`
    select array(select current_setting(name) from unnest(${NAMES}::text[]) as name) as values`
  return row?.values
}

test('behind a pooler, limits and planner settings belong to each transaction, and none to the session', async () => {
  const limits = ['30s', '10s', 'UTC']
  assert.deepEqual(await settingsOf(db), [...limits, 'on'])
  assert.deepEqual(await settingsOf(db, true), [...limits, 'off'])
  assert.deepEqual(await db.begin((tx) => settingsOf(tx)), [...limits, 'on'])
  assert.deepEqual(await db.begin((tx) => settingsOf(tx, true)), [...limits, 'off'])
  // Without parameters it is sent by the simple protocol, outside the transaction of the settings.
  const session = await db.unsafe("select current_setting('statement_timeout') as of_session")
  assert.equal(session[0]?.['of_session'], '0')
})

test('behind a pooler, no statement has a name', async () => {
  for (let times = 0; times < 3; times++) await db`select ${times}::integer as number`
  const [row] = await db`select count(*)::integer as named from pg_prepared_statements where name <> ''`
  assert.equal(row?.['named'], 0)
})

test('what needs a session goes to the direct address', async () => {
  const names: unknown[] = []
  await db.keepConnection({
    retryMs: 1_000,
    async onOpen({ sql }) {
      names.push((await sql`select current_setting('application_name') as name`)[0]?.['name'])
    },
  })
  const heard = Promise.withResolvers<string>()
  await db.listen('channel', heard.resolve, () => undefined)
  await db`select pg_notify('channel', 'through the pooler')`
  assert.deepEqual([names, await heard.promise], [['direct'], 'through the pooler'])
})

test('two addresses of different databases are refused with a sentence', async () => {
  await using other = await testDatabase()
  const open = (target: string) => openDatabase({ target, maximumConnections: 1, applicationName: 'test' })
  const [same, different] = [open(direct.href), open(other.url)]
  await checkSameDatabase(db, same)
  await assert.rejects(checkSameDatabase(db, different), DatabaseFailure)
  await Promise.all([same.end(), different.end()])
})
