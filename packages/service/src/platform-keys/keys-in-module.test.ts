import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { importPublicJwk, verifyDetached } from '@agent-exchange/crypto'
import { inTransaction } from '@agent-exchange/database'
import type { KeyModule } from '@agent-exchange/pkcs11'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import type { Clock } from '@agent-exchange/server/clock'
import { openTestDatabase } from '@agent-exchange/testkit'
import { fakeModule } from '../../../pkcs11/src/fake-module.fixture.ts'
import { platformIdentity } from '../features/agents/platform-identity.ts'
import { checkPlatformKeys } from '../features/backup/check-platform-keys.ts'
import { randomId } from '../kernel/ids.ts'
import { publicJwkOf } from './key-store.ts'
import { openPlatformKeys } from './platform-keys.ts'
import { rotateMasterKey } from './rotate-master-key.ts'

const masterKey = randomBytes(32)
const fake = fakeModule()
const database = await openTestDatabase(4)
const { db } = database
after(async () => {
  await database[Symbol.asyncDispose]()
  await fake[Symbol.asyncDispose]()
})

let now = '2026-03-02T08:00:00.000Z'
let elapsed = 0
// Time passes between reads, so that nobody works with keys that it cached.
const clock: Clock = { now: () => now, monotonicMilliseconds: () => (elapsed += 60_000) }

function open(module?: KeyModule) {
  const masterKeys = () => ({ current: masterKey })
  return openPlatformKeys({
    db,
    masterKeys,
    module,
    profile: DEFAULT_PROFILE,
    clock,
    newId: randomId,
    identity: platformIdentity,
  })
}

const places = async (keys: Awaited<ReturnType<typeof open>>) =>
  (await keys.statement.list(db)).map(({ status, held_in }) => `${status} ${held_in}`)

test('a deployment with keys in its database moves to a module by rotation, and keeps the earlier keys', async () => {
  const before = await open()
  assert.deepEqual(await places(before), ['active database'])
  const keys = await open(fake.keys)
  assert.deepEqual(fake.state().objects, [])
  await inTransaction(db, (tx) => keys.statement.rotate(tx, now))
  await inTransaction(db, (tx) => keys.token.rotate(tx, now))
  const rotated = await inTransaction(db, (tx) => keys.webhook.rotate(tx, now))
  assert.equal(rotated.held_in, 'token aex')
  assert.deepEqual(await places(keys), ['active token aex', 'retiring database'])
  assert.ok(fake.state().objects.every(({ isPrivate, isExtractable }) => !isPrivate || !isExtractable))
  assert.deepEqual(
    fake
      .state()
      .objects.filter(({ isPrivate }) => isPrivate)
      .map(({ label }) => label),
    ['agent-exchange statement', 'agent-exchange token', 'agent-exchange webhook'],
  )

  now = '2026-03-20T08:00:00.000Z'
  const content = { statement: 'x' }
  const signature = await keys.signer.sign(content, 'signature')
  const row = (await keys.statement.current()).keys.find(({ key_id }) => key_id === signature.key_id)
  assert.ok(row && row.private_key_encrypted[0] === 2)
  const publicKey = await importPublicJwk(publicJwkOf(row))
  await verifyDetached({ ...content, signature }, { member: 'signature', publicKey })

  // Not every module has Ed25519: this one has not.
  await inTransaction(db, (tx) => keys.log.rotate(tx, now))
  assert.ok((await keys.log.list(db)).every(({ held_in }) => held_in === 'database'))
})

test('the master key rotates beside keys in a module, and a backup says what it does not hold', async () => {
  const other = randomBytes(32)
  const report = await checkPlatformKeys(db, { current: masterKey })
  assert.match(
    report,
    /^All \d+ platform keys open with the master key\. 3 more are in a PKCS#11 module \(token aex\)/u,
  )
  const count = await inTransaction(db, (tx) =>
    rotateMasterKey(tx, { current: other, previous: masterKey }, now),
  )
  assert.equal(count, (await db`select 1 from platform_key`).length - 3)
  await inTransaction(db, (tx) => rotateMasterKey(tx, { current: masterKey, previous: other }, now))
})

test('without its module an exchange does not start, and says which settings it needs', async () => {
  await assert.rejects(open(), /is in the token aex of a PKCS#11 module\. Set AEX_PKCS11_MODULE/u)
})

test('a reference that leads to another key of the module is refused', async () => {
  await db`
    update platform_key set private_key_encrypted = (select private_key_encrypted from platform_key
      where purpose = 'token' and get_byte(private_key_encrypted, 0) = 2)
    where purpose = 'statement' and get_byte(private_key_encrypted, 0) = 2`
  await assert.rejects(open(fake.keys), /another key than/u)
})
