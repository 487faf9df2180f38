import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { canonicalBytes, decodeBase64url, importPublicJwk, verifyEs256 } from '@agent-exchange/crypto'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { openTestDatabase } from '@agent-exchange/testkit'
import { type Database, inTransaction } from '@agent-exchange/database'
import { type Clock, secondsAfter } from '@agent-exchange/server/clock'
import { openKeys, START } from './platform-keys.fixture.ts'

const cleanup = new AsyncDisposableStack()
after(() => cleanup.disposeAsync())
const freshDatabase = async () => cleanup.use(await openTestDatabase(12)).db

/** Two processes with one clock that the test moves. */
async function replicas(db: Database) {
  const time = { now: START }
  const clock: Clock = { now: () => time.now, monotonicMilliseconds: () => Date.parse(time.now) }
  const open = () => openKeys(db, { clock })
  return { time, one: await open(), replica: await open() }
}

test('[AUTH-01] a rotated token key is listed at once and signs after its lead time; the earlier one verifies until its tokens expire', async () => {
  const db = await freshDatabase()
  const { key_lead_seconds, access_token_seconds } = DEFAULT_PROFILE['O-08']
  const { time, one, replica } = await replicas(db)
  const ids = async (keys: typeof one) => (await keys.tokenKeys()).keys.map(({ keyId }) => keyId)
  const [first = ''] = await ids(replica)
  const { key_id: next } = await inTransaction(db, (tx) => one.token.rotate(tx, time.now))
  time.now = secondsAfter(START, 5)
  assert.deepEqual(
    await ids(replica),
    [first, next],
    'a replica knows it after five seconds, without a restart',
  )
  time.now = secondsAfter(START, key_lead_seconds)
  assert.deepEqual(await ids(replica), [next, first])
  time.now = secondsAfter(START, key_lead_seconds + access_token_seconds)
  assert.deepEqual(await ids(replica), [next, first])
  time.now = secondsAfter(START, key_lead_seconds + access_token_seconds + 120)
  assert.deepEqual(await ids(replica), [next])
  // An unknown key id causes a new read at once.
  const later = secondsAfter(time.now, 2)
  const revoked = await inTransaction(db, (tx) => one.token.revoke(tx, next, later))
  assert.equal(revoked?.status, 'revoked')
  time.now = later
  const emergency = (await one.token.list(db)).find(({ status }) => status === 'active')
  assert.deepEqual(
    (await replica.tokenKeys(emergency?.key_id)).keys.map(({ keyId }) => keyId),
    [emergency?.key_id],
  )
})

test('[ID-07][ID-10] after a rotation the directory keeps earlier statement keys with status and history', async () => {
  const db = await freshDatabase()
  const lead = DEFAULT_PROFILE['O-42'].key_lead_seconds
  const { time, one, replica } = await replicas(db)
  const sign = async () => (await replica.signer.sign({ a: 1 }, 'signature')).key_id
  const directory = async () =>
    (
      await db`select key_id, status, replaces_key_id from agent_key where agent_id = 'agent_platform' order by registered_at`
    ).map((row) => [row['key_id'], row['status'], row['replaces_key_id']])
  const first = await sign()
  time.now = secondsAfter(time.now, 60)
  const { key_id: next } = await inTransaction(db, (tx) => one.statement.rotate(tx, time.now))
  assert.deepEqual(await directory(), [
    [first, 'retiring', null],
    [next, 'active', first],
  ])
  time.now = secondsAfter(time.now, lead - 1)
  assert.equal(await sign(), first)
  time.now = secondsAfter(time.now, 6)
  assert.equal(await sign(), next)
  // Decision 0014: the new id carries a signature by the earlier key, so agents that pinned that one accept it.
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

  await inTransaction(db, (tx) => one.statement.revoke(tx, next, time.now))
  time.now = secondsAfter(time.now, 5)
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
    select key_id, kind from agent_key_event join agent_key using (agent_id, key_id)
    where agent_id = 'agent_platform' order by position`
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
