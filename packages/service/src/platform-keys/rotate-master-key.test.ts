import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { openTestDatabase } from '@agent-exchange/testkit'
import { type Database, inTransaction } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import {
  decryptPrivateKey,
  encryptPrivateKey,
  fingerprint,
  MasterKeyError,
  type MasterKeys,
  unwrapSecret,
  wrapSecret,
} from '@agent-exchange/server/master-key'
import { listEncryptedKeys, replaceEncrypted } from './key-store.ts'
import { readSecrets } from './platform-secrets.ts'
import { rotateMasterKey } from './rotate-master-key.ts'
import { listWrapped, saveWrapped } from './wrapped-secret-store.ts'
import { openKeys, START } from './platform-keys.fixture.ts'

const [former, next] = [randomBytes(32), randomBytes(32)]
const both = { current: next, previous: former }
const cleanup = new AsyncDisposableStack()
after(() => cleanup.disposeAsync())
const freshDatabase = async () => cleanup.use(await openTestDatabase(12)).db

function open(db: Database, keys: MasterKeys) {
  let elapsed = 0
  // Time passes between reads, so that no process works with keys that it cached.
  const clock: Clock = { now: () => START, monotonicMilliseconds: () => (elapsed += 60_000) }
  return openKeys(db, { clock, masterKeys: keys })
}

const rotate = (db: Database, keys: MasterKeys) => inTransaction(db, (tx) => rotateMasterKey(tx, keys, START))
const encryptedKeys = (db: Database) => inTransaction(db, listEncryptedKeys)

/** What a database of the release before had: private keys under the master key itself, and no wrapped secret. */
async function downgrade(db: Database, masterKey: Uint8Array): Promise<void> {
  const { platform_keys: dataKey } = await readSecrets(db, { current: masterKey })
  await inTransaction(db, async (tx) => {
    for (const { key_id, private_key_encrypted } of await listEncryptedKeys(tx)) {
      const plaintext = decryptPrivateKey(dataKey, key_id, private_key_encrypted) ?? ''
      await replaceEncrypted(tx, {
        key_id,
        private_key_encrypted: encryptPrivateKey(masterKey, key_id, plaintext),
      })
    }
    await tx`delete from wrapped_secret`
  })
}

test('a rotation leaves running processes at work, and afterwards only the new master key opens the database', async () => {
  const db = await freshDatabase()
  const before = await open(db, { current: former })
  const running = await open(db, both)
  const mac = running.secrets.mac()
  assert.deepEqual(before.secrets.mac(), mac)
  assert.equal(await rotate(db, both), (await encryptedKeys(db)).length)

  // It opens keys that it never opened, and makes one that the others can open.
  await running.signer.sign({}, 'signature')
  const made = await inTransaction(db, (tx) => running.token.rotate(tx, START))
  const restarted = await open(db, { current: next })
  assert.ok((await restarted.tokenKeys()).keys.some(({ keyId }) => keyId === made.key_id))
  assert.deepEqual(restarted.secrets.mac(), mac, 'page cursors stay valid')
  assert.deepEqual((await open(db, both)).secrets.mac(), mac)

  await assert.rejects(open(db, { current: former }), (error) => {
    assert.ok(error instanceof MasterKeyError)
    assert.match(
      error.message,
      new RegExp(`fingerprint ${fingerprint(next)}.*has ${fingerprint(former)}`, 'u'),
    )
    return true
  })
})

test('the former master key and the former data key open nothing after a rotation', async () => {
  const db = await freshDatabase()
  await open(db, { current: former })
  const { platform_keys: formerDataKey } = await readSecrets(db, { current: former })
  await rotate(db, both)
  for (const { name, wrapped } of await listWrapped(db))
    assert.equal(unwrapSecret(former, name, wrapped), undefined)
  for (const { key_id, private_key_encrypted } of await encryptedKeys(db))
    for (const key of [former, formerDataKey, next])
      assert.equal(decryptPrivateKey(key, key_id, private_key_encrypted), undefined)
})

test('a database of the release before continues with its keys and cursors, until a rotation replaces them', async () => {
  const db = await freshDatabase()
  await open(db, { current: former })
  await downgrade(db, former)
  // The operator may configure the new key together with the upgrade.
  const upgraded = await open(db, both)
  assert.deepEqual(
    upgraded.secrets.mac(),
    Uint8Array.from(former),
    'cursors of the release before stay valid',
  )
  const [row] = await encryptedKeys(db)
  assert.ok(row)
  assert.ok(decryptPrivateKey(former, row.key_id, row.private_key_encrypted) !== undefined)

  await rotate(db, both)
  const [rotated] = await encryptedKeys(db)
  assert.ok(rotated)
  assert.equal(decryptPrivateKey(former, rotated.key_id, rotated.private_key_encrypted), undefined)
  await (await open(db, { current: next })).signer.sign({}, 'signature')
  await upgraded.signer.sign({}, 'signature')
})

test('a rotation that is interrupted leaves the former key in use', async () => {
  const db = await freshDatabase()
  await open(db, { current: former })
  const interrupted = inTransaction(db, async (tx) => {
    await rotateMasterKey(tx, both, START)
    throw new Error('killed')
  })
  await assert.rejects(interrupted, /killed/u)
  await (await open(db, { current: former })).signer.sign({}, 'signature')
  await assert.rejects(open(db, { current: next }), MasterKeyError)
})

test('wrapped secrets that were swapped, replaced or removed stop the start', async () => {
  const db = await freshDatabase()
  const keys = { current: former }
  await open(db, keys)
  const rows = await listWrapped(db)
  const [platform, mac] = [
    rows.find((row) => row.name === 'platform_keys'),
    rows.find((row) => row.name === 'mac'),
  ]
  assert.ok(platform && mac)
  const put = (...saved: typeof rows) =>
    inTransaction(db, async (tx) => {
      for (const row of saved) await saveWrapped(tx, row)
    })

  await put({ ...platform, wrapped: mac.wrapped }, { ...mac, wrapped: platform.wrapped })
  await assert.rejects(open(db, keys), /platform_keys in the database was altered/u)

  const attacker = randomBytes(32)
  const chosen = wrapSecret(attacker, 'platform_keys', randomBytes(32))
  await put({ ...platform, wrapped: chosen, master_key_id: fingerprint(attacker) }, mac)
  await assert.rejects(open(db, keys), MasterKeyError)
  await put({ ...platform, wrapped: chosen })
  await assert.rejects(open(db, keys), /was altered/u)

  await put(platform)
  await db`delete from wrapped_secret where name = 'mac'`
  await assert.rejects(open(db, keys), /has no mac/u)
  // Without both rows the database looks like one of the release before, whose keys another key would have to open.
  await db`delete from wrapped_secret`
  await assert.rejects(open(db, keys), /cannot be decrypted/u)
  assert.equal((await listWrapped(db)).length, 0, 'a refused start writes nothing')
  await put(platform, mac)
  await open(db, keys)
})
