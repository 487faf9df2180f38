import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { importPublicJwk, verifySkillRelease } from '@agent-exchange/crypto'
import { openTestDatabase } from '@agent-exchange/testkit'
import { inTransaction } from '@agent-exchange/database'
import { DAY_SECONDS, secondsAfter } from '@agent-exchange/server/clock'
import { deriveSecret, MasterKeyError } from '@agent-exchange/server/master-key'
import { openKeys, profileWith, START } from './platform-keys.fixture.ts'

const cleanup = new AsyncDisposableStack()
after(() => cleanup.disposeAsync())
const freshDatabase = async () => cleanup.use(await openTestDatabase(12)).db

test('processes that start together agree on the keys, and a restart finds the same keys', async () => {
  const db = await freshDatabase()
  const all = await Promise.all(Array.from({ length: 8 }, () => openKeys(db)))
  const restarted = await openKeys(db, { now: secondsAfter(START, 60) })
  const kids = await Promise.all(
    [...all, restarted].map(async (keys) => [
      (await keys.signer.sign({}, 'signature')).key_id,
      ...(await keys.tokenKeys()).keys.map((key) => key.keyId),
    ]),
  )
  assert.equal(new Set(kids.map((each) => each.join())).size, 1)
  const rows = await db`select purpose from platform_key order by purpose`
  assert.deepEqual(
    rows.map(({ purpose }) => purpose),
    ['log', 'statement', 'token', 'webhook', 'webhook'],
  )
})

test('a wrong master key stops the start with a clear error and adds no key', async () => {
  const db = await freshDatabase()
  await openKeys(db)
  await db`delete from platform_key where purpose = 'token'`
  await assert.rejects(openKeys(db, { masterKeys: { current: randomBytes(32) } }), (error) => {
    assert.ok(error instanceof MasterKeyError)
    assert.match(error.message, /AEX_MASTER_KEY/)
    return true
  })
  const [row] = await db`select count(*)::int as count from platform_key`
  assert.equal(row?.['count'], 4)
})

test('a short master key is refused', async () => {
  const db = await freshDatabase()
  await assert.rejects(openKeys(db, { masterKeys: { current: randomBytes(16) } }), MasterKeyError)
})

test('a private key that was moved to another row cannot be decrypted', async () => {
  const db = await freshDatabase()
  await openKeys(db)
  await db`
    update platform_key set private_key_encrypted =
      (select private_key_encrypted from platform_key where purpose = 'statement')
    where purpose = 'token'`
  await assert.rejects(openKeys(db), MasterKeyError)
})

test('private keys are stored encrypted only', async () => {
  const db = await freshDatabase()
  const { token, secrets } = await openKeys(db)
  const [dump] = await db<
    { text: string; bytes: string }[]
  >`select string_agg(platform_key::text, ' ') as text,
    string_agg(encode(private_key_encrypted, 'escape'), ' ') as bytes from platform_key`
  const [row] = (await token.current()).keys
  assert.ok(row)
  const secret = (JSON.parse(await secrets.decrypt(row)) as { d: string }).d
  assert.ok(secret.length > 40)
  assert.ok(!`${dump?.text} ${dump?.bytes}`.includes(secret))
})

test('[ID-10] the directory lists the platform with the key that signs its statements', async () => {
  const db = await freshDatabase()
  const { signer } = await openKeys(db)
  await openKeys(db)
  const { key_id: keyId } = await signer.sign({}, 'signature')
  const [row] = await db`
    select public_jwk, organization_id, agent.status from agent_key join agent using (agent_id)
    where agent_id = 'agent_platform' and key_id = ${keyId} and use = 'signing'`
  assert.equal(row?.['organization_id'], 'org_platform')
  assert.equal(row?.['status'], 'active')
  const release = { skill_id: 'skill_a', version: '1.0.0' }
  const signed = { ...release, manifest_signature: await signer.sign(release, 'manifest_signature') }
  await verifySkillRelease(signed, await importPublicJwk(JSON.parse(String(row?.['public_jwk']))))
  const events = await db`select kind from agent_key_event where key_id = ${keyId}`
  assert.equal(events.length, 1)
})

test('the start is refused if an organization already has the platform’s agent id', async () => {
  const db = await freshDatabase()
  await db`insert into organization (organization_id, name, created_at) values ('org_a', 'A', ${START})`
  await db`
    insert into agent values ('agent_platform', 'org_a', 'x', '1', '{}', '{}', '{}', 'active', 'none', ${START}, ${START})`
  await assert.rejects(openKeys(db), /agent_platform belongs to another organization/)
})

test('[ID-08][EVT-13] a rotated key is listed at once and signs only after its lead time', async () => {
  const db = await freshDatabase()
  const { webhook } = await openKeys(db, { profile: profileWith({ lead_seconds: 600, retiring_days: 2 }) })
  const first = await webhook.currentKeyId(db, START)
  const before = await webhook.directory(db, START)
  const standby = (await webhook.list(db)).find((key) => key.standby)?.key_id
  const next = await inTransaction(db, (tx) => webhook.rotate(tx, START))

  const published = await webhook.directory(db, START)
  assert.notEqual(published.directory_version, before.directory_version)
  assert.deepEqual(
    published.keys.map(({ key_id, status }) => [key_id, status]),
    [
      [next.key_id, 'active'],
      [first, 'retiring'],
      [standby, 'active'],
    ],
  )
  assert.equal(next.valid_from, secondsAfter(START, 600))
  const early = secondsAfter(START, 599)
  assert.equal(await webhook.currentKeyId(db, early), first)
  assert.equal(await webhook.signingKey(db, next.key_id, early), undefined)

  const later = secondsAfter(START, 600)
  assert.equal(await webhook.currentKeyId(db, later), next.key_id)
  assert.equal((await webhook.signingKey(db, next.key_id, later))?.keyId, next.key_id)
  assert.equal((await webhook.signingKey(db, first, later))?.keyId, first)

  const retired = secondsAfter(START, 600 + 2 * DAY_SECONDS)
  assert.equal(await webhook.signingKey(db, first, retired), undefined)
  const remaining = await webhook.directory(db, retired)
  assert.deepEqual(
    remaining.keys.map(({ key_id }) => key_id),
    [next.key_id, standby],
  )
  assert.notEqual(remaining.directory_version, published.directory_version)
  assert.deepEqual(await inTransaction(db, (tx) => webhook.maintain(tx, retired)), {
    retired: 1,
    renewed: undefined,
  })
})

test('[ID-08] directory_version changes only when the keys change', async () => {
  const db = await freshDatabase()
  const { webhook } = await openKeys(db)
  const [a, b] = [
    await webhook.directory(db, START),
    await webhook.directory(db, secondsAfter(START, DAY_SECONDS)),
  ]
  assert.equal(a.directory_version, b.directory_version)
  assert.notEqual(a.generated_at, b.generated_at)
})

test('after a rotation by one process another process signs with the new key', async () => {
  const db = await freshDatabase()
  const profile = profileWith({ lead_seconds: 0 })
  const [one, other] = [await openKeys(db, { profile }), await openKeys(db, { profile })]
  const next = await inTransaction(db, (tx) => one.webhook.rotate(tx, secondsAfter(START, 1)))
  assert.equal(await other.webhook.currentKeyId(db, secondsAfter(START, 1)), next.key_id)
})

test('[EVT-13] a key that is not rotated is renewed before it ends, without a gap', async () => {
  const db = await freshDatabase()
  const profile = profileWith({ lead_seconds: 3_600, validity_days: 8 })
  const { webhook } = await openKeys(db, { profile })
  const maintainAt = (now: string) => inTransaction(db, (tx) => webhook.maintain(tx, now))
  assert.equal((await maintainAt(secondsAfter(START, 6 * DAY_SECONDS))).renewed, undefined)
  const late = secondsAfter(START, 7 * DAY_SECONDS)
  assert.ok((await maintainAt(late)).renewed)
  assert.equal((await maintainAt(late)).renewed, undefined)
  for (const hours of [0, 1, 2, 12, 24, 48]) await webhook.currentKeyId(db, secondsAfter(late, hours * 3_600))
})

test('[EVT-13] a successor made just before the end starts when the old key ends', async () => {
  const db = await freshDatabase()
  const profile = profileWith({ lead_seconds: 3_600, validity_days: 1 })
  const { webhook } = await openKeys(db, { profile })
  const end = secondsAfter(START, DAY_SECONDS)
  const next = await inTransaction(db, (tx) => webhook.rotate(tx, secondsAfter(end, -60)))
  assert.equal(next.valid_from, end)
})

test('after a long downtime the exchange makes a key that signs at once', async () => {
  const db = await freshDatabase()
  const profile = profileWith({ validity_days: 1 })
  await openKeys(db, { profile })
  const now = secondsAfter(START, 30 * DAY_SECONDS)
  const { webhook } = await openKeys(db, { profile, now })
  assert.ok(await webhook.signingKey(db, await webhook.currentKeyId(db, now), now))
})

test('secrets for different purposes differ', () => {
  const masterKey = randomBytes(32)
  assert.notDeepEqual(deriveSecret(masterKey, 'cursors'), deriveSecret(masterKey, 'others'))
  assert.deepEqual(deriveSecret(masterKey, 'cursors'), deriveSecret(masterKey, 'cursors'))
})
