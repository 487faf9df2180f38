import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { secondsAfter } from '@agent-exchange/server/clock'
import { PURGE_BATCH, purgeAssertions, recordAssertion } from './assertion-use.ts'
import { openSeededDatabase } from './oauth-world.fixture.ts'

const NOW = '2026-03-02T08:00:00.000Z'
let database: Awaited<ReturnType<typeof openSeededDatabase>>
before(async () => {
  database = await openSeededDatabase()
})
after(() => database[Symbol.asyncDispose]())

const use = (clientId: string, assertionId: string, expiresAt = NOW) =>
  recordAssertion(database.db, { clientId, assertionId, expiresAt })

test('[AUTH-02] an assertion id is accepted once per client', async () => {
  assert.deepEqual([await use('a', '1'), await use('a', '1'), await use('b', '1')], [true, false, true])
  // Without a separator these two would hash to the same value.
  assert.deepEqual([await use('ab', 'c'), await use('a', 'bc')], [true, true])
})

test('[AUTH-02] of 50 concurrent uses exactly one is accepted', async () => {
  const results = await Promise.all(Array.from({ length: 50 }, () => use('c', 'same')))
  assert.equal(results.filter(Boolean).length, 1)
})

test('[AUTH-02] expired ids are purged in batches, the others are kept', async () => {
  await database.db`delete from assertion_use`
  const expired = PURGE_BATCH * 2 + 5
  await database.db`
    insert into assertion_use
    select sha256(number::text::bytea), ${secondsAfter(NOW, -1)}::timestamptz from generate_series(1, ${expired}) as number`
  await use('d', 'still good', secondsAfter(NOW, 60))
  const [first, second] = await Promise.all([
    purgeAssertions(database.db, NOW),
    purgeAssertions(database.db, NOW),
  ])
  assert.equal(first + second, expired)
  assert.equal(await use('d', 'still good'), false)
})
