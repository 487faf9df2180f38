import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '@agent-exchange/testkit'
import { gatewayDatabase } from '../stores/gateway-database.fixture.ts'
import { deleteOldRequests, runOnce } from './idempotent-requests.ts'

const opened = await gatewayDatabase()
const { db } = opened
after(() => opened[Symbol.asyncDispose]())

const request = (key: string) => ({ caller: 'system_1', key, content: '{"a":1}' })
const inUse = { code: 'idempotency_key_in_use' }

test('the request of a killed instance is taken over within seconds, and both callers get one answer', async () => {
  const slow = Promise.withResolvers<{ status: number; body: string }>()
  const first = runOnce(db, request('k'), () => slow.promise)
  await assert.rejects(
    runOnce(db, request('k'), () => assert.fail('it runs already')),
    inUse,
  )
  const [row] = await db<{ seconds: number }[]>`
    select extract(epoch from running_until - now())::float8 as seconds from api_request`
  assert.ok((row?.seconds ?? 60) <= 10, 'the time for which a killed instance blocks a retry')
  // As after a time in which the instance renewed nothing.
  await db`update api_request set running_until = now() - interval '1 second'`
  const second = await runOnce(db, request('k'), async () => ({ status: 201, body: '"second"' }))
  slow.resolve({ status: 201, body: '"first"' })
  assert.deepEqual(await first, second)
  assert.deepEqual(await runOnce(db, request('k'), () => assert.fail('it is recorded')), second)
})

test('a key belongs to one system and one content; a request that failed may be sent again', async () => {
  const fails = runOnce(db, request('f'), () => Promise.reject(new Error('away')))
  await assert.rejects(fails, /away/u)
  assert.equal((await runOnce(db, request('f'), async () => ({ status: 200, body: '1' }))).body, '1')
  await assert.rejects(
    runOnce(db, { ...request('f'), content: '{"a":2}' }, () => assert.fail('another content')),
    { code: 'idempotency_key_reuse' },
  )
  const other = await runOnce(db, { ...request('f'), caller: 'system_2' }, async () => ({
    status: 200,
    body: '2',
  }))
  assert.equal(other.body, '2', 'the answer of another system is never shown')
})

test('a run that was taken over and then fails leaves the claim of its successor', async () => {
  const slow = Promise.withResolvers<{ status: number; body: string }>()
  const first = runOnce(db, request('t'), () => slow.promise)
  await until('the claim', async () => (await db`select from api_request where status is null`).length > 0)
  await db`update api_request set running_until = now() - interval '1 second' where status is null`
  const other = Promise.withResolvers<{ status: number; body: string }>()
  const second = runOnce(db, request('t'), () => other.promise)
  await until('the second claim', async () => {
    const rows = await db`select from api_request where status is null and running_until > now()`
    return rows.length > 0
  })
  slow.reject(new Error('away'))
  await assert.rejects(first, /away/u)
  await assert.rejects(
    runOnce(db, request('t'), () => assert.fail('the second one runs')),
    inUse,
  )
  other.resolve({ status: 200, body: '"second"' })
  assert.equal((await second).body, '"second"')
})

test('an answer that says "not yet" is not recorded', async () => {
  assert.equal((await runOnce(db, request('n'), async () => ({ status: 202, body: '"waits"' }))).status, 202)
  assert.equal((await runOnce(db, request('n'), async () => ({ status: 200, body: '"sent"' }))).status, 200)
})

test('one run deletes all old answers, in steps', async () => {
  await db`delete from api_request`
  await db`
    insert into api_request (caller, key_hash, request_hash, created_at)
    select 'system_1', int4send(number), '', now() - interval '25 hours' from generate_series(1, 2500) as number`
  assert.equal(await deleteOldRequests(db), 2_500)
})
