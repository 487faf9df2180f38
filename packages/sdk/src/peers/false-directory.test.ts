import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { generateKeyPair, jwkThumbprint } from '@agent-exchange/crypto'
import type { PublicKey as DirectoryKey } from '@agent-exchange/protocol'
import { agentFingerprint } from '../agent-keys/fingerprint.ts'
import { currentKey } from '../agent-keys/make-keys.ts'
import type { ExchangeError } from '../errors.ts'
import {
  caught,
  evilJwk,
  only,
  pinnedBy,
  startFalsifiedWorld,
  type FalsifiedWorld,
  type Keys,
} from '../false-directory.fixture.ts'
import { introducedKeyId } from './key-introduction.ts'
import type { KeyChange } from './peer-directory.ts'

let exchange: FalsifiedWorld
before(async () => {
  exchange = await startFalsifiedWorld()
})
after(() => exchange[Symbol.asyncDispose]())
beforeEach(() => exchange.reset())

test('a key swapped under its pinned id is caught, whichever key was asked for', async () => {
  const { bolt, id, peers, see } = await exchange.meet(() => true)
  await peers.encryptionKey(id)
  const public_key = await evilJwk()
  const signing = await currentKey(bolt.keys, 'signing')
  for (const use of ['encryption', 'signing']) {
    exchange.falsify(
      id,
      only(use, (key) => ({ ...key, public_key })),
    )
    await assert.rejects(see().encryptionKey(id), caught('peer_key_mismatch', /under the id of a pinned/))
    await assert.rejects(see().signingKey(id, signing.keyId), caught('peer_key_mismatch'))
  }
})

test('a key put beside the pinned ones is caught before anything is sealed for it', async () => {
  const { bolt, id, peers, see } = await exchange.meet()
  await peers.encryptionKey(id)
  const public_key = await evilJwk()
  const thumbprint = await jwkThumbprint(public_key)
  const { keyId: signingId } = await currentKey(bolt.keys, 'signing')
  const { keyId: honestId } = await currentKey(bolt.keys, 'encryption')
  const proof = honestId.split('.')[1] ?? ''
  const evil = await generateKeyPair('signing')
  const byEvil = await introducedKeyId(evil.privateKey, { ...bolt.identity, use: 'encryption' }, public_key)
  // Opaque, named by its thumbprint, with another key's proof, and introduced by a key that nobody pinned.
  for (const key_id of ['evil', `key_${thumbprint}`, `key_${thumbprint}.${proof}`, byEvil]) {
    exchange.falsify(id, (keys) => [
      ...keys,
      {
        ...(keys.find(({ use }) => use === 'encryption') as DirectoryKey),
        key_id,
        public_key,
        valid_from: exchange.later(-1),
      },
      {
        ...(keys.find(({ use }) => use === 'signing') as DirectoryKey),
        key_id: `s_${key_id}`,
        public_key: evil.publicKey.jwk,
      },
    ])
    exchange.world.clock.advance(5)
    await assert.rejects(see().encryptionKey(id), (error) => {
      caught('peer_key_unconfirmed', new RegExp(thumbprint))(error)
      const { change } = (error as ExchangeError).details as { change: KeyChange }
      assert.deepEqual(change.offered, { keyId: key_id, use: 'encryption', fingerprint: thumbprint })
      assert.deepEqual(change.pinned.map(({ keyId }) => keyId).toSorted(), [signingId, honestId].toSorted())
      return true
    })
    await assert.rejects(see().signingKey(id, `s_${key_id}`), caught('peer_key_unconfirmed'))
  }
})

test('a false directory at the first contact is caught by the fingerprint that the owner gave', async () => {
  const { bolt, id, see } = await exchange.meet(() => true)
  const [first, second] = [await evilJwk(), await evilJwk()]
  exchange.falsify(id, (keys) =>
    keys.map((key) => ({
      ...key,
      public_key: key.use === 'signing' ? first : second,
      key_id: `k_${key.use}`,
    })),
  )
  const fingerprint = await agentFingerprint(bolt.keys)
  assert.deepEqual((await see().trust(id, ` ${fingerprint}\n`)).expected, [fingerprint])
  await assert.rejects(see().encryptionKey(id), caught('peer_key_mismatch', /fingerprint that was given/))
  await assert.rejects(see().signingKey(id, 'k_signing'), caught('peer_key_mismatch'))

  exchange.reset()
  const key = await see().encryptionKey(id)
  assert.equal(key.keyId, (await currentKey(bolt.keys, 'encryption')).keyId)
  assert.deepEqual(await pinnedBy(see(), id), ['encryption introduction', 'signing fingerprint'])
  assert.deepEqual((await see().pins(id))?.expected, [])
})

test('with the fingerprint known, an encryption key that the signing key does not vouch for is not taken', async () => {
  const { bolt, id, see } = await exchange.meet()
  const public_key = await evilJwk()
  await see().trust(id, await agentFingerprint(bolt.keys))
  exchange.falsify(
    id,
    only('encryption', (key) => ({ ...key, public_key, key_id: 'evil' })),
  )
  await assert.rejects(see().encryptionKey(id), caught('peer_key_unconfirmed'))
  await see().trust(id, await jwkThumbprint(public_key))
  assert.equal((await see().encryptionKey(id)).keyId, 'evil')
  assert.deepEqual(await pinnedBy(see(), id), ['encryption fingerprint', 'signing fingerprint'])
})

test('a fingerprint that comes later takes the place of first use: what was pinned falsely falls', async () => {
  const { bolt, id, see } = await exchange.meet()
  const [first, second] = [await evilJwk(), await evilJwk()]
  const lie = (keys: Keys): Keys =>
    keys.map((key) => ({
      ...key,
      public_key: key.use === 'signing' ? first : second,
      key_id: `k_${key.use}`,
    }))
  exchange.falsify(id, lie)
  assert.equal((await see().encryptionKey(id)).keyId, 'k_encryption')
  await see().trust(id, await agentFingerprint(bolt.keys))
  await assert.rejects(see().encryptionKey(id), caught('peer_key_mismatch'))
  // Shown beside the true keys, the false ones are no longer taken either.
  exchange.falsify(id, (keys) => [
    ...keys,
    ...lie(keys).map((key) => ({ ...key, valid_from: exchange.later(-1) })),
  ])
  exchange.world.clock.advance(5)
  await assert.rejects(see().encryptionKey(id), caught('peer_key_unconfirmed'))
  await assert.rejects(see().signingKey(id, 'k_signing'), caught('peer_key_unconfirmed'))
})

test('comparing the fingerprint of an honest first contact confirms it', async () => {
  const { bolt, id, see } = await exchange.meet()
  await see().encryptionKey(id)
  await see().trust(id, await agentFingerprint(bolt.keys))
  await see().encryptionKey(id)
  assert.deepEqual(await pinnedBy(see(), id), ['encryption introduction', 'signing fingerprint'])
  for (const nonsense of ['', 'abc', 'x'.repeat(44), `${'x'.repeat(42)}!`]) {
    await assert.rejects(see().trust(id, nonsense), caught('input_invalid'))
  }
})

test('an agent that moves to another organization is not the one that was pinned', async () => {
  const { id, peers, see } = await exchange.meet()
  await peers.encryptionKey(id)
  exchange.falsify(id, (keys) => keys, { organization_id: 'org_evil' })
  await assert.rejects(see().encryptionKey(id), caught('peer_key_mismatch', /another organization/))
})

test('a directory of another agent, with an id twice, without end, or with a broken key is refused', async () => {
  const { id, see } = await exchange.meet()
  const lies: [(keys: Keys) => Keys, object?][] = [
    [(keys) => keys, { agent_id: 'agent_other' }],
    [(keys) => [...keys, ...keys]],
    [(keys) => Array.from({ length: 1_001 }, (_, n) => ({ ...(keys[0] as DirectoryKey), key_id: `k${n}` }))],
    [only('encryption', (key) => ({ ...key, public_key: { ...key.public_key, y: key.public_key.x } }))],
  ]
  for (const [lie, members] of lies) {
    exchange.falsify(id, lie, members)
    await assert.rejects(see().encryptionKey(id), caught('exchange_answer_unreadable'))
  }
})
