import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTestDatabase } from '@agent-exchange/testkit'
import { leaseTokens, removeIdleBuckets } from './rate-bucket-store.ts'

const BURST = 100
/** So slow that no token is added during a test. */
const SLOW = { rate: 0.001, burst: BURST }
const database = await openTestDatabase()
const { db } = database
after(() => database[Symbol.asyncDispose]())

test('[O-13] concurrent leases never grant more than the bucket holds', async () => {
  const leases = await Promise.all(
    Array.from({ length: 30 }, () =>
      leaseTokens(
        db,
        [
          { holder: 'org_b', wanted: 7 },
          { holder: 'org_a', wanted: 7 },
        ],
        SLOW,
      ),
    ),
  )
  for (const place of [0, 1]) {
    const granted = leases.reduce((sum, lease) => sum + (lease[place]?.granted ?? 0), 0)
    assert.equal(granted, BURST)
  }
})

test('[O-13] a bucket fills at its rate up to the burst, and equal holders of one call share its tokens', async () => {
  const take = (wanted: number, rate: number) =>
    leaseTokens(db, [{ holder: 'org_c', wanted }], { rate, burst: BURST })
  assert.equal((await take(BURST + 50, 0.001))[0]?.granted, BURST)
  assert.equal((await take(10, 0.001))[0]?.granted, 0)
  await db`update rate_bucket set filled_at = filled_at - interval '3 seconds' where holder = 'org_c'`
  assert.equal((await take(BURST, 10))[0]?.granted, 30)
  await db`update rate_bucket set filled_at = filled_at - interval '1 hour' where holder = 'org_c'`
  const shared = await leaseTokens(
    db,
    [
      { holder: 'org_c', wanted: 80 },
      { holder: 'org_c', wanted: 80 },
    ],
    { rate: 10, burst: BURST },
  )
  assert.deepEqual(
    shared.map(({ granted }) => granted),
    [80, 20],
  )
})

test('[O-13] a server clock that is set back grants nothing, and the bucket fills again from then on', async () => {
  await leaseTokens(db, [{ holder: 'org_d', wanted: BURST }], SLOW)
  await db`update rate_bucket set filled_at = filled_at + interval '1 hour' where holder = 'org_d'`
  const [lease] = await leaseTokens(db, [{ holder: 'org_d', wanted: 1 }], { rate: 1_000, burst: BURST })
  assert.equal(lease?.granted, 0)
  await db`update rate_bucket set filled_at = filled_at - interval '1 second' where holder = 'org_d'`
  const [next] = await leaseTokens(db, [{ holder: 'org_d', wanted: 1 }], { rate: 1_000, burst: BURST })
  assert.equal(next?.granted, 1)
})

test('buckets that nobody has used for a day are removed', async () => {
  await leaseTokens(db, [{ holder: 'org_e', wanted: 1 }], SLOW)
  await db`update rate_bucket set filled_at = filled_at - interval '25 hours' where holder = 'org_e'`
  await removeIdleBuckets(db)
  assert.equal((await db`select from rate_bucket where holder = 'org_e'`).length, 0)
  assert.equal((await db`select from rate_bucket where holder = 'org_a'`).length, 1)
})
