import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { importPublicJwk, openPackage, sealPackage } from '@agent-exchange/crypto'
import { startAgent } from '../agents.fixture.ts'
import { createContext } from '../create-context.ts'
import { ExchangeError } from '../errors.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { startProxiedWorld, type ProxiedWorld } from '../meddling-proxy.fixture.ts'
import { agentFingerprint } from './fingerprint.ts'
import { currentKey, makeAgentKeys } from './make-keys.ts'
import { registerAgent } from './register-agent.ts'
import { revokeKey } from './revoke-key.ts'
import { rotateKey } from './rotate-key.ts'
import { createMemoryKeyStore } from '../keys/memory-key-store.ts'

const REGISTRATION = { implementation: 'test', implementationVersion: '1.0.0' }
let proxied: ProxiedWorld
before(async () => {
  proxied = await startProxiedWorld()
})
after(() => proxied[Symbol.asyncDispose]())
beforeEach(() => {
  proxied.proxy.before = () => undefined
  proxied.proxy.after = (_, reply) => reply
})
const start = (keys: KeyStore = createMemoryKeyStore()) =>
  startAgent(proxied.world, 'acme', { baseUrl: proxied.proxy.url, keys, limits: { attempts: 1 } })
const directoryOf = async ({ connection, identity }: Awaited<ReturnType<typeof start>>) => {
  const { keys } = await connection.call('getAgentKeys', { path: { agent_id: identity.agentId } })
  return keys
}

test('keys are made once, however often it is asked, and what is missing is made later', async () => {
  const keys = createMemoryKeyStore()
  const making = {
    identity: { organizationId: 'org_a', agentId: 'agent_a' },
    now: () => new Date('2026-03-01T09:00:00Z'),
  }
  await keys.generate({ role: 'client', stage: 'current', createdAt: '2026-02-01T09:00:00Z' })
  const made = await makeAgentKeys(keys, making)
  assert.deepEqual(await makeAgentKeys(keys, making), made)
  assert.equal(made.client.createdAt, '2026-02-01T09:00:00Z')
  assert.equal((await keys.list()).length, 3)
  assert.equal(made.signing.keyId, `key_${await agentFingerprint(keys)}`)
})

test('[ID-03] a rotation registers the new key, retires the old one and keeps it for what it sealed', async () => {
  const acme = await start()
  const old = await currentKey(acme.keys, 'encryption')
  const party = { kid: old.keyId, publicKey: await importPublicJwk(old.publicJwk) }
  const text = new TextEncoder().encode('{"sealed":"before"}')
  const sealed = await sealPackage(text, { sender: { ...party, kid: 'sender' }, recipient: party })
  const { current, previous } = await rotateKey(acme, 'encryption')
  assert.equal(previous.keyId, old.keyId)
  assert.equal((await currentKey(acme.keys, 'encryption')).keyId, current.keyId)
  const shown = await directoryOf(acme)
  assert.equal(shown.find(({ key_id }) => key_id === previous.keyId)?.status, 'retiring')
  const registered = shown.find(({ key_id }) => key_id === current.keyId)
  assert.equal(registered?.status, 'active')
  assert.equal(registered.replaces_key_id, previous.keyId)

  assert.equal((await acme.peers.encryptionKey(acme.identity.agentId)).keyId, current.keyId)
  const privateKey = await acme.keys.privateKey(previous.keyId)
  const { plaintext } = await openPackage(sealed, { kid: previous.keyId, privateKey })
  assert.deepEqual(plaintext, text)
})

test('[ID-03] stopped at any step, a rotation is finished by running it again: one key, registered once', async () => {
  const registration = /^\/v1\/agents\/[^/]+\/keys$/
  const stops = {
    before: 'before the exchange was asked',
    after: 'after the exchange has registered it',
    store: 'before the store was told',
  }
  for (const role of ['signing', 'encryption'] as const) {
    for (const [where, name] of Object.entries(stops)) {
      const inner = createMemoryKeyStore()
      let isBroken = true
      const keys: KeyStore = {
        ...inner,
        setStages: async (stages) => {
          if (where === 'store' && isBroken) throw new Error('the power went out')
          return inner.setStages(stages)
        },
      }
      const acme = await start(keys)
      const old = await currentKey(keys, role)
      proxied.proxy.before = ({ path }) =>
        where === 'before' && isBroken && registration.test(path) ? 'drop' : undefined
      proxied.proxy.after = ({ path }, reply) =>
        where === 'after' && isBroken && registration.test(path) ? 'drop' : reply
      await assert.rejects(rotateKey(acme, role), name)
      const next = (await keys.list()).find(({ stage }) => stage === 'next')
      assert.ok(next, name)
      assert.equal((await currentKey(keys, role)).keyId, old.keyId)

      isBroken = false
      const { current } = await rotateKey(acme, role)
      assert.equal(current.keyId, next.keyId, name)
      const ofRole = (await directoryOf(acme)).filter(({ use }) => use === role)
      assert.deepEqual(Object.fromEntries(ofRole.map(({ key_id, status }) => [key_id, status])), {
        [old.keyId]: 'retiring',
        [next.keyId]: 'active',
      })
      assert.equal((await keys.list()).filter(({ stage }) => stage === 'next').length, 0)
    }
  }
})

test('two processes that rotate at once finish one rotation', async () => {
  const acme = await start()
  const [first, second] = await Promise.all([rotateKey(acme, 'signing'), rotateKey(acme, 'signing')])
  assert.equal(first.current.keyId, second.current.keyId)
  assert.equal((await directoryOf(acme)).filter(({ use }) => use === 'signing').length, 2)
})

test('a rotation that was begun before another was finished goes on from there', async () => {
  const acme = await start()
  const overtaken = await currentKey(acme.keys, 'encryption')
  await rotateKey(acme, 'encryption')
  await acme.keys.generate({
    role: 'encryption',
    stage: 'next',
    createdAt: new Date(proxied.world.clock.now()).toISOString(),
    replaces: overtaken.keyId,
  })
  const { previous } = await rotateKey(acme, 'encryption')
  assert.notEqual(previous.keyId, overtaken.keyId)
})

test('[ID-01] registering again after a rotation tells what else has changed', async () => {
  const acme = await start()
  await rotateKey(acme, 'signing')
  const again = await registerAgent(acme, { ...REGISTRATION, implementationVersion: '2.0.0' })
  assert.equal(again.implementation_version, '2.0.0')
  assert.deepEqual(again.transport_modes, ['native'])
  assert.equal(again.keys.length, 3)
})

test('[ID-04] a key is revoked from a time on, under an id that carries a proof too', async () => {
  const acme = await start()
  const { previous } = await rotateKey(acme, 'encryption')
  const invalidFrom = new Date(Date.parse(proxied.world.clock.now()) - 60_000)
  const why = { invalidFrom, reasonCode: 'compromise', evidenceReference: 'case_1' }
  const revoked = await revokeKey(acme, previous.keyId, why)
  assert.equal(revoked.status, 'revoked')
  assert.equal(revoked.invalid_from, invalidFrom.toISOString())
  await assert.rejects(
    revokeKey(acme, previous.keyId, why),
    (error) => error instanceof ExchangeError && error.problem?.code === 'invalid_state_transition',
  )
})

test('[ID-04][ID-05] a planned retirement becomes an emergency, and a peer follows', async () => {
  const [acme, bolt] = [await start(), await start()]
  const { keyId } = await currentKey(acme.keys, 'encryption')
  const now = Date.parse(proxied.world.clock.now())
  const revoke = (from: number) =>
    revokeKey(acme, keyId, {
      invalidFrom: new Date(from),
      reasonCode: 'retirement',
      evidenceReference: 'case_2',
    })
  const sealedFor = () => createContext(bolt.options).peers.encryptionKey(acme.identity.agentId)
  await revoke(now + 3_600_000)
  assert.equal((await sealedFor()).keyId, keyId, 'its end is in the future')
  assert.equal((await revoke(now - 60_000)).invalid_from, new Date(now - 60_000).toISOString())
  await assert.rejects(
    sealedFor(),
    (error) => error instanceof ExchangeError && error.code === 'peer_key_missing',
  )
  await assert.rejects(
    revoke(now),
    (error) => error instanceof ExchangeError && error.problem?.code === 'invalid_state_transition',
  )
})

test('[ID-06] nothing private is ever sent', async () => {
  proxied.proxy.passed.length = 0
  const acme = await start()
  await rotateKey(acme, 'signing')
  const sent = proxied.proxy.passed.map(({ body, path }) => path + body).join('\n')
  assert.match(sent, /"public_key"/)
  assert.doesNotMatch(sent, /"d"\s*:/)
})
