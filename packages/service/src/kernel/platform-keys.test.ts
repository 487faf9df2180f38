import {
  canonicalBytes,
  decodeBase64url,
  importPublicJwk,
  verifyEs256,
  verifySkillRelease,
} from '@agent-exchange/crypto'
import { createProfile, DEFAULT_PROFILE, type DeploymentProfile } from '@agent-exchange/protocol'
import { testDatabase } from '@agent-exchange/testkit'
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { type Database, openDatabase } from '../db/database.ts'
import { inTransaction } from '../db/transaction.ts'
import { type Clock, DAY_SECONDS, secondsAfter } from './clock.ts'
import { randomId } from './ids.ts'
import { deriveSecret, MasterKeyError } from './master-key.ts'
import { openPlatformKeys } from './platform-keys.ts'

const START = '2026-03-02T08:00:00.000Z'
const masterKey = randomBytes(32)
const opened: AsyncDisposable[] = []
after(async () => {
  for (const each of opened.toReversed()) await each[Symbol.asyncDispose]()
})

async function freshDatabase(): Promise<Database> {
  const database = await testDatabase()
  opened.push(database)
  const db = openDatabase({ target: database.url, maximumConnections: 12, applicationName: 'test' })
  opened.push({ [Symbol.asyncDispose]: () => db.end() })
  return db
}

function open(db: Database, { now = START, profile = DEFAULT_PROFILE, key = masterKey } = {}) {
  const clock: Clock = { now: () => now, monotonicMilliseconds: () => 0 }
  return openPlatformKeys({ db, masterKey: key, profile, clock, newId: randomId })
}

function profileWith(rotation: Partial<DeploymentProfile['O-38']>): DeploymentProfile {
  const result = createProfile({ 'O-38': rotation })
  assert.ok(result.ok)
  return result.profile
}

test('processes that start at once agree on the keys, and a restart finds them again', async () => {
  const db = await freshDatabase()
  const all = await Promise.all(Array.from({ length: 8 }, () => open(db)))
  const restarted = await open(db, { now: secondsAfter(START, 60) })
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
    ['statement', 'token', 'webhook', 'webhook'],
  )
})

test('a wrong master key stops the start, says so, and adds nothing', async () => {
  const db = await freshDatabase()
  await open(db)
  await db`delete from platform_key where purpose = 'token'`
  await assert.rejects(open(db, { key: randomBytes(32) }), (error) => {
    assert.ok(error instanceof MasterKeyError)
    assert.match(error.message, /AEX_MASTER_KEY/)
    return true
  })
  const [row] = await db`select count(*)::int as count from platform_key`
  assert.equal(row?.['count'], 3)
})

test('a short master key is refused', async () => {
  const db = await freshDatabase()
  await assert.rejects(open(db, { key: randomBytes(16) }), MasterKeyError)
})

test('a private key that was moved to another row does not open', async () => {
  const db = await freshDatabase()
  await open(db)
  await db`
    update platform_key set private_key_encrypted =
      (select private_key_encrypted from platform_key where purpose = 'statement')
    where purpose = 'token'`
  await assert.rejects(open(db), MasterKeyError)
})

test('private keys are in the database under encryption only', async () => {
  const db = await freshDatabase()
  const { tokenKeys } = await open(db)
  const [dump] = await db<
    { text: string; bytes: string }[]
  >`select string_agg(platform_key::text, ' ') as text,
    string_agg(encode(private_key_encrypted, 'escape'), ' ') as bytes from platform_key`
  const secret = (await tokenKeys()).keys[0]?.privateJwk.d ?? ''
  assert.ok(secret.length > 40)
  assert.ok(!`${dump?.text} ${dump?.bytes}`.includes(secret))
})

test('[ID-10] the platform stands in the directory with the key that signs its statements', async () => {
  const db = await freshDatabase()
  const { signer } = await open(db)
  await open(db)
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

test('the start is refused where a customer already has the agent id of the platform', async () => {
  const db = await freshDatabase()
  await db`insert into organization (organization_id, name, created_at) values ('org_a', 'A', ${START})`
  await db`
    insert into agent values ('agent_platform', 'org_a', 'x', '1', '{}', '{}', '{}', 'active', 'none', ${START}, ${START})`
  await assert.rejects(open(db), /agent_platform belongs to another organization/)
})

test('[ID-08][EVT-13] a rotated key is listed at once and signs only after its lead time', async () => {
  const db = await freshDatabase()
  const { webhook } = await open(db, { profile: profileWith({ lead_seconds: 600, retiring_days: 2 }) })
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

test('[ID-08] directory_version stays as long as the keys stay', async () => {
  const db = await freshDatabase()
  const { webhook } = await open(db)
  const [a, b] = [
    await webhook.directory(db, START),
    await webhook.directory(db, secondsAfter(START, DAY_SECONDS)),
  ]
  assert.equal(a.directory_version, b.directory_version)
  assert.notEqual(a.generated_at, b.generated_at)
})

test('a rotation by one process is what another one signs with', async () => {
  const db = await freshDatabase()
  const profile = profileWith({ lead_seconds: 0 })
  const [one, other] = [await open(db, { profile }), await open(db, { profile })]
  const next = await inTransaction(db, (tx) => one.webhook.rotate(tx, secondsAfter(START, 1)))
  assert.equal(await other.webhook.currentKeyId(db, secondsAfter(START, 1)), next.key_id)
})

test('[EVT-13] a key that nobody rotates is renewed before it ends, without a gap', async () => {
  const db = await freshDatabase()
  const profile = profileWith({ lead_seconds: 3_600, validity_days: 8 })
  const { webhook } = await open(db, { profile })
  const maintainAt = (now: string) => inTransaction(db, (tx) => webhook.maintain(tx, now))
  assert.equal((await maintainAt(secondsAfter(START, 6 * DAY_SECONDS))).renewed, undefined)
  const late = secondsAfter(START, 7 * DAY_SECONDS)
  assert.ok((await maintainAt(late)).renewed)
  assert.equal((await maintainAt(late)).renewed, undefined)
  for (const hours of [0, 1, 2, 12, 24, 48]) await webhook.currentKeyId(db, secondsAfter(late, hours * 3_600))
})

test('[EVT-13] a successor made in the last moment starts where the old key ends', async () => {
  const db = await freshDatabase()
  const profile = profileWith({ lead_seconds: 3_600, validity_days: 1 })
  const { webhook } = await open(db, { profile })
  const end = secondsAfter(START, DAY_SECONDS)
  const next = await inTransaction(db, (tx) => webhook.rotate(tx, secondsAfter(end, -60)))
  assert.equal(next.valid_from, end)
})

test('after a long sleep the exchange makes a key that signs at once', async () => {
  const db = await freshDatabase()
  const profile = profileWith({ validity_days: 1 })
  await open(db, { profile })
  const now = secondsAfter(START, 30 * DAY_SECONDS)
  const { webhook } = await open(db, { profile, now })
  assert.ok(await webhook.signingKey(db, await webhook.currentKeyId(db, now), now))
})

const statusOf = (keys: readonly { key_id: string; status: string }[], keyId: string) =>
  keys.find(({ key_id }) => key_id === keyId)?.status

test('[ID-08] there is one unused key in standby, at the start and in a database that had none', async () => {
  const db = await freshDatabase()
  const { webhook } = await open(db)
  const current = await webhook.currentKeyId(db, START)
  const [standby, ...more] = (await webhook.list(db)).filter((key) => key.standby)
  assert.ok(standby && more.length === 0 && standby.key_id !== current)
  assert.deepEqual([standby.status, standby.valid_from], ['active', START])
  assert.equal(statusOf((await webhook.directory(db, START)).keys, standby.key_id), 'active')
  // As an earlier release left it.
  await db`delete from platform_key where standby`
  const upgraded = await open(db, { now: secondsAfter(START, 60) })
  const made = (await upgraded.webhook.list(db)).filter((key) => key.standby)
  assert.equal(made.length, 1)
  assert.equal(await upgraded.webhook.currentKeyId(db, secondsAfter(START, 60)), current)
})

test('[ID-08] an emergency moves at once to the key in standby, and the revoked one stays listed to its end', async () => {
  const db = await freshDatabase()
  const { webhook } = await open(db)
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

test('[ID-08] a rotation that is on its way goes on after an emergency; a standby key that is revoked is replaced', async () => {
  const db = await freshDatabase()
  const { webhook } = await open(db)
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

test('[ID-08] the key in standby is renewed before it ends', async () => {
  const db = await freshDatabase()
  const { webhook } = await open(db, { profile: profileWith({ validity_days: 8, lead_seconds: 3_600 }) })
  const late = secondsAfter(START, 7.5 * DAY_SECONDS)
  await inTransaction(db, (tx) => webhook.maintain(tx, late))
  const lasting = (await webhook.list(db)).filter(
    (key) => key.standby && (key.valid_until ?? '') > secondsAfter(late, DAY_SECONDS),
  )
  assert.equal(lasting.length, 1)
})

test('nobody can rotate the key in use out of the list', async () => {
  const db = await freshDatabase()
  const { webhook } = await open(db)
  const first = await webhook.currentKeyId(db, START)
  const rotate = () => inTransaction(db, (tx) => webhook.rotate(tx, START))
  await assert.rejects(async () => {
    for (let i = 0; i < 60; i++) await rotate()
  }, /quota/)
  assert.equal(await webhook.currentKeyId(db, START), first)
})

test('[AUTH-01] a rotated token key is listed at once and signs after its lead; the earlier one verifies until its tokens have ended', async () => {
  const db = await freshDatabase()
  const { key_lead_seconds, access_token_seconds } = DEFAULT_PROFILE['O-08']
  let now = START
  const clock: Clock = { now: () => now, monotonicMilliseconds: () => Date.parse(now) }
  const opened = () => openPlatformKeys({ db, masterKey, profile: DEFAULT_PROFILE, clock, newId: randomId })
  const [one, replica] = [await opened(), await opened()]
  const ids = async (keys: typeof one) => (await keys.tokenKeys()).keys.map(({ keyId }) => keyId)
  const [first = ''] = await ids(replica)
  const { key_id: next } = await inTransaction(db, (tx) => one.token.rotate(tx, now))
  now = secondsAfter(START, 5)
  assert.deepEqual(
    await ids(replica),
    [first, next],
    'a replica knows it after five seconds, without a restart',
  )
  now = secondsAfter(START, key_lead_seconds)
  assert.deepEqual(await ids(replica), [next, first])
  now = secondsAfter(START, key_lead_seconds + access_token_seconds)
  assert.deepEqual(await ids(replica), [next, first])
  now = secondsAfter(START, key_lead_seconds + access_token_seconds + 120)
  assert.deepEqual(await ids(replica), [next])
  // An unknown key id makes it look again at once.
  const later = secondsAfter(now, 2)
  const revoked = await inTransaction(db, (tx) => one.token.revoke(tx, next, later))
  assert.equal(revoked?.status, 'revoked')
  now = later
  const [emergency] = (await one.token.list(db)).filter(({ status }) => status === 'active')
  assert.deepEqual(
    (await replica.tokenKeys(emergency?.key_id)).keys.map(({ keyId }) => keyId),
    [emergency?.key_id],
  )
})

test('[ID-07][ID-10] statement keys rotate: earlier ones stay in the directory with their status and history', async () => {
  const db = await freshDatabase()
  const lead = DEFAULT_PROFILE['O-42'].key_lead_seconds
  let now = START
  const clock: Clock = { now: () => now, monotonicMilliseconds: () => Date.parse(now) }
  const opened = () => openPlatformKeys({ db, masterKey, profile: DEFAULT_PROFILE, clock, newId: randomId })
  const [one, replica] = [await opened(), await opened()]
  const sign = async () => (await replica.signer.sign({ a: 1 }, 'signature')).key_id
  const directory = async () =>
    (
      await db`select key_id, status, replaces_key_id from agent_key where agent_id = 'agent_platform' order by registered_at`
    ).map((row) => [row['key_id'], row['status'], row['replaces_key_id']])
  const first = await sign()
  now = secondsAfter(now, 60)
  const { key_id: next } = await inTransaction(db, (tx) => one.statement.rotate(tx, now))
  assert.deepEqual(await directory(), [
    [first, 'retiring', null],
    [next, 'active', first],
  ])
  now = secondsAfter(now, lead - 1)
  assert.equal(await sign(), first)
  now = secondsAfter(now, 6)
  assert.equal(await sign(), next)
  // The earlier key introduces the next one in its id: agents that pinned it accept the new one (decision 0014).
  const [thumbprint, proof] = next.slice('key_'.length).split('.')
  const [old] = await db<{ public_jwk: string }[]>`select public_jwk from agent_key where key_id = ${first}`
  const introduction = canonicalBytes({
    purpose: 'aex-key-introduction',
    organization_id: 'org_platform',
    agent_id: 'agent_platform',
    use: 'signing',
    thumbprint,
  })
  const introducer = await importPublicJwk(JSON.parse(old?.public_jwk ?? ''))
  assert.ok(await verifyEs256(introducer, introduction, decodeBase64url(proof ?? '')))

  await inTransaction(db, (tx) => one.statement.revoke(tx, next, now))
  now = secondsAfter(now, 5)
  const emergency = await sign()
  assert.deepEqual(
    (await directory()).map(([keyId, status]) => [keyId, status]),
    [
      [first, 'retiring'],
      [next, 'revoked'],
      [emergency, 'active'],
    ],
  )
  const events = await db`
    select key_id, kind from agent_key_event where agent_id = 'agent_platform' order by position`
  assert.deepEqual(
    events.map((row) => [row['key_id'], row['kind']]),
    [
      [first, 'registered'],
      [next, 'registered'],
      [first, 'retiring'],
      [next, 'revoked'],
      [emergency, 'registered'],
    ],
  )
})

test('secrets for different purposes differ', () => {
  assert.notDeepEqual(deriveSecret(masterKey, 'cursors'), deriveSecret(masterKey, 'others'))
  assert.deepEqual(deriveSecret(masterKey, 'cursors'), deriveSecret(masterKey, 'cursors'))
})
