import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTestDatabase } from '@agent-exchange/testkit'
import { inTransaction } from '@agent-exchange/database'
import { DAY_SECONDS, secondsAfter } from '@agent-exchange/server/clock'
import { openKeys, profileWith, START } from './platform-keys.fixture.ts'

const cleanup = new AsyncDisposableStack()
after(() => cleanup.disposeAsync())
const freshDatabase = async () => cleanup.use(await openTestDatabase(12)).db

const statusOf = (keys: readonly { key_id: string; status: string }[], keyId: string) =>
  keys.find(({ key_id }) => key_id === keyId)?.status

test('[ID-08] there is one unused standby key at the start, also in a database that had none', async () => {
  const db = await freshDatabase()
  const { webhook } = await openKeys(db)
  const current = await webhook.currentKeyId(db, START)
  const [standby, ...more] = (await webhook.list(db)).filter((key) => key.standby)
  assert.ok(standby && more.length === 0 && standby.key_id !== current)
  assert.deepEqual([standby.status, standby.valid_from], ['active', START])
  assert.equal(statusOf((await webhook.directory(db, START)).keys, standby.key_id), 'active')
  // The state that an earlier release left.
  await db`delete from platform_key where standby`
  const upgraded = await openKeys(db, { now: secondsAfter(START, 60) })
  const made = (await upgraded.webhook.list(db)).filter((key) => key.standby)
  assert.equal(made.length, 1)
  assert.equal(await upgraded.webhook.currentKeyId(db, secondsAfter(START, 60)), current)
})

test('[ID-08] an emergency revocation switches to the standby key at once, and the revoked key remains listed until its end', async () => {
  const db = await freshDatabase()
  const { webhook } = await openKeys(db)
  const now = secondsAfter(START, 3 * DAY_SECONDS)
  const first = await webhook.currentKeyId(db, now)
  const standby = (await webhook.list(db)).find((key) => key.standby)?.key_id ?? ''
  const before = await webhook.directory(db, now)
  const revoked = await inTransaction(db, (tx) => webhook.revoke(tx, first, now))
  assert.deepEqual([revoked?.status, revoked?.revoked_at, revoked?.invalid_from], ['revoked', now, now])
  assert.equal(await webhook.currentKeyId(db, now), standby)
  assert.equal((await webhook.signingKey(db, standby, now))?.keyId, standby)
  assert.equal(await webhook.signingKey(db, first, now), undefined)

  const { keys, directory_version } = await webhook.directory(db, now)
  assert.notEqual(directory_version, before.directory_version)
  const listed = keys.find(({ key_id }) => key_id === first)
  assert.deepEqual([listed?.status, listed?.revoked_at, listed?.invalid_from], ['revoked', now, now])
  const spare = (await webhook.list(db)).filter((key) => key.standby)
  assert.ok(spare.length === 1 && spare[0]?.key_id !== standby, 'the next one is published at once')
  const end = listed?.valid_until ?? ''
  assert.equal(statusOf((await webhook.directory(db, secondsAfter(end, -1))).keys, first), 'revoked')
  assert.equal(statusOf((await webhook.directory(db, end)).keys, first), undefined)
})

test('[ID-08] a rotation in progress continues after an emergency revocation; a revoked standby key is replaced', async () => {
  const db = await freshDatabase()
  const { webhook } = await openKeys(db)
  const first = await webhook.currentKeyId(db, START)
  const standby = (await webhook.list(db)).find((key) => key.standby)?.key_id
  const next = await inTransaction(db, (tx) => webhook.rotate(tx, START))
  assert.equal(
    next.valid_from,
    secondsAfter(START, 2 * DAY_SECONDS),
    'two days for receivers that refresh daily',
  )
  await inTransaction(db, (tx) => webhook.revoke(tx, first, START))
  assert.equal(await webhook.currentKeyId(db, START), standby)
  assert.equal(await webhook.currentKeyId(db, next.valid_from), next.key_id)
  const spare = (await webhook.list(db)).find((key) => key.standby)?.key_id ?? ''
  await inTransaction(db, (tx) => webhook.revoke(tx, spare, START))
  const replaced = (await webhook.list(db)).filter((key) => key.standby)
  assert.ok(replaced.length === 1 && replaced[0]?.key_id !== spare)
  assert.equal(await webhook.currentKeyId(db, START), standby)
})

test('[ID-08] the standby key is renewed before it ends', async () => {
  const db = await freshDatabase()
  const { webhook } = await openKeys(db, { profile: profileWith({ validity_days: 8, lead_seconds: 3_600 }) })
  const late = secondsAfter(START, 7.5 * DAY_SECONDS)
  await inTransaction(db, (tx) => webhook.maintain(tx, late))
  const lasting = (await webhook.list(db)).filter(
    (key) => key.standby && (key.valid_until ?? '') > secondsAfter(late, DAY_SECONDS),
  )
  assert.equal(lasting.length, 1)
})

test('repeated rotation cannot push the signing key out of the list', async () => {
  const db = await freshDatabase()
  const { webhook } = await openKeys(db)
  const first = await webhook.currentKeyId(db, START)
  const rotate = () => inTransaction(db, (tx) => webhook.rotate(tx, START))
  await assert.rejects(async () => {
    for (let i = 0; i < 60; i++) await rotate()
  }, /quota/)
  assert.equal(await webhook.currentKeyId(db, START), first)
})
