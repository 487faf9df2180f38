import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { draftPackage, sendPackage, startWorld, submitPackage, testDatabase } from '@agent-exchange/testkit'
import { DatabaseFailure, openDatabase } from '@agent-exchange/database'

/** Another address of the same database. */
function directUrlOf(url: string): string {
  const direct = new URL(url)
  direct.searchParams.set('application_name', 'direct')
  return direct.href
}

test('[ERR-03][API-04] a server that has become read-only is a retryable problem, and the retry passes on a primary', async () => {
  await using world = await startWorld()
  const [from, to] = await Promise.all([world.organization('seats'), world.organization('cars')])
  const [row] = await world.sql<{ name: string }[]>`select current_database() as name`
  const draft = await draftPackage(from, to)
  await world.sql.unsafe(`alter database ${row?.name} set default_transaction_read_only = on`)
  await world.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'agent-exchange'`
  const options = { idempotencyKey: randomUUID() }
  const refused = await from.post('/v1/policy-receipts', draft.receipt, options)
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1'])
  assert.deepEqual([refused.body['code'], refused.body['retryable']], ['database_unavailable', true])

  // As after a failover: new connections lead to a primary, and no connection to the old one is used again.
  await world.sql.unsafe(`alter database ${row?.name} reset default_transaction_read_only`)
  assert.equal((await from.post('/v1/policy-receipts', draft.receipt, options)).status, 201)
  assert.equal((await submitPackage(from, draft)).status, 202)
})

test('with a direct address the whole service works without named statements', async () => {
  await using database = await testDatabase()
  const databaseDirectUrl = directUrlOf(database.url)
  await using world = await startWorld({
    config: { databaseUrl: database.url, databaseDirectUrl, role: 'all' },
  })
  const [from, to] = await Promise.all([world.organization('seats'), world.organization('cars')])
  await sendPackage(from, to)
  const page = await to.get('/v1/notifications')
  assert.equal((page.body['items'] as unknown[]).length, 1)
  const sql = openDatabase({ target: database.url, maximumConnections: 1, applicationName: 'test' })
  const sessions = await sql<{ name: string }[]>`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() order by 1`
  await sql.end()
  assert.deepEqual([...sessions], [{ name: 'agent-exchange' }, { name: 'direct' }])
})

test('a direct address of another database stops the start', async () => {
  await using database = await testDatabase()
  await using other = await testDatabase()
  const start = startWorld({
    config: { databaseUrl: database.url, databaseDirectUrl: directUrlOf(other.url) },
  })
  await assert.rejects(start, (error) => error instanceof DatabaseFailure && /different/u.test(error.message))
})
