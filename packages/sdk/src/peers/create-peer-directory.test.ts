import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { jwkThumbprint } from '@agent-exchange/crypto'
import type { PublicKey as DirectoryKey } from '@agent-exchange/protocol'
import { currentKey } from '../agent-keys/make-keys.ts'
import { revokeKey } from '../agent-keys/revoke-key.ts'
import { rotateKey } from '../agent-keys/rotate-key.ts'
import type { ExchangeError } from '../errors.ts'
import {
  caught,
  evilJwk,
  only,
  pinnedBy,
  startFalsifiedWorld,
  type FalsifiedWorld,
} from '../false-directory.fixture.ts'
import type { KeyChange } from './peer-directory.ts'

/** A person takes longer than a machine, so those who wait for the answer meet. */
const THOUGHT_MS = 150
let exchange: FalsifiedWorld
before(async () => {
  exchange = await startFalsifiedWorld()
})
after(() => exchange[Symbol.asyncDispose]())
beforeEach(() => exchange.reset())

test('the first contact pins what the directory shows, and later contacts hold it to that', async () => {
  const { bolt, id, peers, see } = await exchange.meet()
  const key = await peers.encryptionKey(id)
  const own = await currentKey(bolt.keys, 'encryption')
  assert.equal(key.keyId, own.keyId)
  assert.equal(key.fingerprint, await jwkThumbprint(own.publicJwk))
  assert.equal(key.organizationId, bolt.identity.organizationId)
  assert.deepEqual(await pinnedBy(peers, id), ['encryption first-use', 'signing first-use'])
  assert.equal((await see().encryptionKey(id)).keyId, key.keyId)
})

test('keys that a pinned key introduced are taken without asking, over any number of steps', async () => {
  const never = () => assert.fail('nobody should be asked')
  const { bolt, id, peers, see } = await exchange.meet(never)
  await peers.encryptionKey(id)
  await rotateKey(bolt, 'encryption')
  assert.equal((await see().encryptionKey(id)).keyId, (await currentKey(bolt.keys, 'encryption')).keyId)
  for (const role of ['signing', 'signing', 'encryption', 'signing', 'encryption'] as const) {
    await rotateKey(bolt, role)
  }
  const [signing, encryption] = [
    await currentKey(bolt.keys, 'signing'),
    await currentKey(bolt.keys, 'encryption'),
  ]
  assert.equal((await see().encryptionKey(id)).keyId, encryption.keyId)
  assert.equal((await see().signingKey(id, signing.keyId)).keyId, signing.keyId)
  const pinned = (await see().pins(id))?.keys ?? []
  assert.equal(pinned.length, 8)
  assert.equal(pinned.filter(({ by }) => by === 'introduction').length, 6)
})

test('a key that was registered a moment ago is found although the directory was just read', async () => {
  const { bolt, id, peers } = await exchange.meet()
  await peers.encryptionKey(id)
  const { current } = await rotateKey(bolt, 'signing')
  assert.equal((await peers.signingKey(id, current.keyId)).keyId, current.keyId)
})

test('a revoked key introduces nothing new, and its revocation cannot be taken back', async () => {
  const { bolt, id, peers, see } = await exchange.meet()
  const stolen = await currentKey(bolt.keys, 'signing')
  await peers.encryptionKey(id)
  const earlier = (await rotateKey(bolt, 'encryption')).current
  await see().encryptionKey(id)
  const invalidFrom = new Date(exchange.world.clock.now())
  await revokeKey(bolt, stolen.keyId, { invalidFrom, reasonCode: 'compromise', evidenceReference: 'case_1' })
  assert.equal((await see().encryptionKey(id)).keyId, earlier.keyId)
  const judged = await see().signingKey(id, stolen.keyId)
  assert.equal(judged.entry.status, 'revoked')

  const { current } = await rotateKey(bolt, 'encryption')
  await assert.rejects(see().encryptionKey(id), (error) => {
    caught('peer_key_unconfirmed')(error)
    const { change } = (error as ExchangeError).details as { change: KeyChange }
    return change.offered.keyId === current.keyId
  })
  const unrevoked = (key: DirectoryKey): DirectoryKey => {
    const { revoked_at: _, invalid_from: __, ...rest } = key
    return { ...rest, status: 'active' }
  }
  exchange.falsify(id, only('signing', unrevoked))
  await assert.rejects(see().encryptionKey(id), caught('peer_key_mismatch', /revocation/))
  exchange.falsify(
    id,
    only('signing', (key) => ({ ...key, invalid_from: '2040-01-01T00:00:00Z' })),
  )
  await assert.rejects(see().signingKey(id, stolen.keyId), caught('peer_key_mismatch', /revocation/))
})

test('[ID-04] a planned retirement becomes an emergency: an earlier invalid_from is taken, a later one never', async () => {
  const { bolt, id, see } = await exchange.meet()
  const { keyId } = await currentKey(bolt.keys, 'signing')
  await see().signingKey(id, keyId)
  const [planned, stolen] = [exchange.later(1_000), exchange.later(-10)]
  const shown = (invalid_from: string) =>
    exchange.falsify(
      id,
      only('signing', (key) => ({ ...key, status: 'revoked', revoked_at: exchange.later(0), invalid_from })),
    )
  const pinnedEnd = async () => (await see().pins(id))?.keys.find((key) => key.keyId === keyId)?.invalidFrom
  shown(planned)
  assert.equal((await see().signingKey(id, keyId)).keyId, keyId)
  assert.equal(await pinnedEnd(), planned)
  shown(stolen)
  assert.equal((await see().signingKey(id, keyId)).entry.invalid_from, stolen)
  assert.equal(await pinnedEnd(), stolen)
  shown(planned)
  await assert.rejects(see().signingKey(id, keyId), caught('peer_key_mismatch', /revocation/))
})

test('[ID-05] a key with an end in the future is sealed for and introduces others; past its end it does neither', async () => {
  const { bolt, id, peers, see } = await exchange.meet(() => assert.fail('nobody should be asked'))
  const { keyId } = await peers.encryptionKey(id)
  const [planned, past] = [exchange.later(1_000), exchange.later(-1)]
  exchange.falsify(id, (keys) =>
    keys.map((key) => ({ ...key, status: 'revoked', revoked_at: past, invalid_from: planned })),
  )
  assert.equal((await see().encryptionKey(id)).keyId, keyId)
  const { current } = await rotateKey(bolt, 'encryption')
  assert.equal((await see().encryptionKey(id)).keyId, current.keyId)

  const other = await exchange.meet()
  await other.peers.encryptionKey(other.id)
  for (const status of ['active', 'retiring', 'revoked']) {
    exchange.falsify(
      other.id,
      only('encryption', (key) => ({ ...key, status, invalid_from: past })),
    )
    await assert.rejects(other.see().encryptionKey(other.id), caught('peer_key_missing'))
  }
})

test('an older directory that is still kept is no alarm where another process saw a newer one', async () => {
  const { bolt, id, see } = await exchange.meet()
  const [here, elsewhere] = [see(), see()]
  const { previous } = await rotateKey(bolt, 'signing')
  await here.encryptionKey(id)
  const invalidFrom = new Date(exchange.world.clock.now())
  await revokeKey(bolt, previous.keyId, { invalidFrom, reasonCode: 'retired', evidenceReference: 'case_2' })
  assert.equal((await elsewhere.signingKey(id, previous.keyId)).entry.status, 'revoked')
  assert.equal((await here.signingKey(id, previous.keyId)).entry.status, 'revoked')
})

test('somebody who may decide is asked once for each change, and shown old and new', async () => {
  const changes: KeyChange[] = []
  let answer: boolean | Error = false
  const confirmKey = async (change: KeyChange) => {
    changes.push(change)
    await sleep(THOUGHT_MS)
    if (answer instanceof Error) throw answer
    return answer
  }
  const { id, peers, see } = await exchange.meet(confirmKey)
  await peers.encryptionKey(id)
  const public_key = await evilJwk()
  exchange.falsify(
    id,
    only('encryption', (key) => ({ ...key, public_key, key_id: 'new' })),
  )
  const ask = async () => {
    const directory = see()
    return Promise.allSettled(Array.from({ length: 6 }, () => directory.encryptionKey(id)))
  }
  for (const no of [false, new Error('the window was closed')]) {
    answer = no
    changes.length = 0
    for (const result of await ask()) {
      assert.equal(result.status, 'rejected')
      caught('peer_key_unconfirmed')(result.reason)
    }
    assert.equal(changes.length, 1)
  }
  answer = true
  assert.ok((await ask()).every(({ status }) => status === 'fulfilled'))
  assert.equal(changes.length, 2)
  assert.equal(changes[1]?.offered.fingerprint, await jwkThumbprint(public_key))
  assert.equal(changes[1]?.pinned.length, 2)
  await see(() => assert.fail('it was confirmed')).encryptionKey(id)
  assert.ok((await pinnedBy(see(), id)).includes('encryption confirmation'))
})

test('[ID-05] the key to seal for is valid now, active before others, and the newest of those', async () => {
  const { id, see } = await exchange.meet()
  const template = { status: 'active', registered_at: exchange.later(-90) }
  const shown: [string, Partial<DirectoryKey>][] = [
    ['old', { valid_from: exchange.later(-90) }],
    ['newest', { valid_from: exchange.later(-10) }],
    ['future', { valid_from: exchange.later(1_000) }],
    ['expired', { valid_from: exchange.later(-5), valid_until: exchange.later(-1) }],
    ['retiring', { valid_from: exchange.later(-4), status: 'retiring' }],
    ['revoked', { valid_from: exchange.later(-3), status: 'revoked', invalid_from: exchange.later(-1) }],
    ['older', { valid_from: exchange.later(-20), valid_until: exchange.later(1_000) }],
  ]
  const jwks = new Map<string, object>()
  for (const [name] of shown) jwks.set(name, await evilJwk())
  exchange.falsify(id, (keys) => [
    ...keys.filter(({ use }) => use === 'signing'),
    ...shown.map(([key_id, members]) => ({
      ...(keys.find(({ use }) => use === 'encryption') as DirectoryKey),
      ...template,
      key_id,
      public_key: jwks.get(key_id) as DirectoryKey['public_key'],
      ...members,
    })),
  ])
  assert.equal((await see().encryptionKey(id)).keyId, 'newest')
  shown.splice(0, shown.length, ...shown.filter(([, { status = 'active' }]) => status !== 'active'))
  assert.equal((await see().encryptionKey(id)).keyId, 'retiring')
  exchange.falsify(id, (keys) => keys.filter(({ use }) => use === 'signing'))
  const other = await exchange.meet()
  exchange.falsify(other.id, (keys) => keys.filter(({ use }) => use === 'signing'))
  await assert.rejects(other.see().encryptionKey(other.id), caught('peer_key_missing'))
})

test('agents and keys that are not there say so', async () => {
  const { bolt, id, peers } = await exchange.meet()
  await assert.rejects(peers.encryptionKey('agent_none'), caught('peer_unknown'))
  await assert.rejects(peers.signingKey(id, 'key_none'), caught('peer_key_missing'))
  // An encryption key signs nothing.
  const { keyId } = await currentKey(bolt.keys, 'encryption')
  await assert.rejects(peers.signingKey(id, keyId), caught('peer_key_missing'))
})

test('the directory is asked once by many, kept for a short time, and a failure is not kept', async () => {
  const { id, peers } = await exchange.meet()
  const asked = () => exchange.proxy.count(`/v1/directory/agents/${id}/keys`)
  exchange.proxy.passed.length = 0
  await Promise.all(Array.from({ length: 10 }, () => peers.encryptionKey(id)))
  assert.equal(asked(), 1)
  exchange.world.clock.advance(20)
  await peers.encryptionKey(id)
  assert.equal(asked(), 1)
  exchange.world.clock.advance(20)
  await peers.encryptionKey(id)
  assert.equal(asked(), 2)
  exchange.world.clock.advance(40)
  exchange.falsify(id, (keys) => [...keys, ...keys])
  await assert.rejects(peers.encryptionKey(id), caught('exchange_answer_unreadable'))
  exchange.reset()
  await peers.encryptionKey(id)
})
