import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { importPublicJwk, jwkThumbprint, signEs256, verifyEs256 } from '@agent-exchange/crypto'
import { ExchangeError } from '../errors.ts'
import type { KeyStore, NewKey } from './key-store.ts'

const createdAt = '2026-03-01T09:00:00.000Z'
const current = (role: NewKey['role']): NewKey => ({ role, stage: 'current', createdAt })
const data = new TextEncoder().encode('what is signed')
const code = (expected: string) => (error: unknown) =>
  error instanceof ExchangeError && error.code === expected

/** What every key store promises, whatever it is made of. */
export function testKeyStore(name: string, open: () => KeyStore | Promise<KeyStore>): void {
  test(`${name}: a new store is empty, and a key that is not there is missing`, async () => {
    const store = await open()
    assert.deepEqual(await store.list(), [])
    await assert.rejects(store.privateKey('key_none'), code('key_missing'))
    await assert.rejects(store.setStages({ key_none: 'current' }), code('key_missing'))
  })

  test(`${name}: a key is made inside, named by its thumbprint, and signs what its public part verifies`, async () => {
    const store = await open()
    const key = await store.generate(current('signing'))
    assert.equal(key.keyId, `key_${await jwkThumbprint(key.publicJwk)}`)
    assert.deepEqual(await store.list(), [key])
    assert.deepEqual(Object.keys(key.publicJwk).toSorted(), ['crv', 'kty', 'x', 'y'])
    const handle = await store.privateKey(key.keyId)
    const publicKey = await importPublicJwk(key.publicJwk)
    assert.ok(await verifyEs256(publicKey, data, await signEs256(handle, data)))
  })

  test(`${name}: revocations are noted once each, and kept with their key`, async () => {
    const store = await open()
    const { keyId } = await store.generate(current('signing'))
    for (const invalidFrom of [createdAt, '2026-02-01T09:00:00.000Z', createdAt])
      await store.noteRevocation?.(keyId, invalidFrom)
    const [key] = await store.list()
    assert.deepEqual(key?.revocations, [createdAt, '2026-02-01T09:00:00.000Z'])
    await assert.rejects(
      store.noteRevocation?.('key_none', createdAt) ?? Promise.resolve(),
      code('key_missing'),
    )
  })

  test(`${name}: private parts never come out`, async () => {
    const store = await open()
    const key = await store.generate(current('signing'))
    const handle = await store.privateKey(key.keyId)
    for (const shown of [key, handle, await store.list()]) {
      assert.doesNotMatch(JSON.stringify(shown), /"d"/)
      assert.doesNotMatch(inspect(shown, { depth: 9, showHidden: true }), /\bd:/)
    }
  })

  test(`${name}: each role has its use, and a handle serves no other`, async () => {
    const store = await open()
    for (const role of ['client', 'signing', 'encryption'] as const) {
      const { keyId } = await store.generate(current(role))
      assert.equal((await store.privateKey(keyId)).use, role === 'encryption' ? 'encryption' : 'signing')
    }
    const encryption = (await store.list()).find(({ role }) => role === 'encryption')
    await assert.rejects(async () => signEs256(await store.privateKey(encryption?.keyId ?? ''), data))
  })

  test(`${name}: a given name is used, and what a key replaces is kept`, async () => {
    const store = await open()
    const key = await store.generate({
      ...current('encryption'),
      stage: 'next',
      replaces: 'key_old',
      nameOf: async ({ x }) => `mine_${x}`,
    })
    assert.equal(key.keyId, `mine_${key.publicJwk.x}`)
    assert.equal((await store.list())[0]?.replaces, 'key_old')
  })

  test(`${name}: a place holds one key, and a change of stages is whole or nothing`, async () => {
    const store = await open()
    const old = await store.generate(current('signing'))
    await assert.rejects(store.generate(current('signing')), code('key_already_made'))
    const next = await store.generate({ ...current('signing'), stage: 'next' })
    await assert.rejects(store.generate({ ...current('signing'), stage: 'next' }), code('key_already_made'))
    await assert.rejects(store.setStages({ [next.keyId]: 'current' }), code('key_already_made'))
    await assert.rejects(
      store.setStages({ [old.keyId]: 'previous', key_none: 'current' }),
      code('key_missing'),
    )
    const stages = async () => Object.fromEntries((await store.list()).map((key) => [key.keyId, key.stage]))
    assert.deepEqual(await stages(), { [old.keyId]: 'current', [next.keyId]: 'next' })
    await store.setStages({ [old.keyId]: 'previous', [next.keyId]: 'current' })
    assert.deepEqual(await stages(), { [old.keyId]: 'previous', [next.keyId]: 'current' })
    assert.ok(await store.privateKey(old.keyId))
  })

  test(`${name}: keys made at once are all there`, async () => {
    const store = await open()
    const made = await Promise.all(
      Array.from({ length: 8 }, () => store.generate({ ...current('encryption'), stage: 'previous' })),
    )
    const ids = new Set((await store.list()).map(({ keyId }) => keyId))
    assert.ok(made.every(({ keyId }) => ids.has(keyId)))
  })
}
