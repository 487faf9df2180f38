import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { canonicalBytes, generateKeyPair, importPublicJwk } from '@agent-exchange/crypto'
import { formatVerifierKey, noteSigner, parsePolicy, SIGNATURE_TYPE } from '@agent-exchange/log'
import {
  exampleObjects,
  type KeyDirectory,
  type PublicKey as DirectoryKey,
  type TrustOverrides,
} from '@agent-exchange/protocol'
import {
  QUICK_LOG,
  addKey,
  sendPackage,
  startWorld,
  type Organization,
  type World,
} from '@agent-exchange/testkit'
import { startAgent, type TestAgent } from '../agents.fixture.ts'
import { createContext, type ContextOptions } from '../create-context.ts'
import type { ExchangeErrorCode } from '../errors.ts'
import { behindLiar } from '../send/crafted.fixture.ts'
import { openPackage } from '../open/open-package.ts'
import { checkLog } from '../log/accept-checkpoint.ts'
import { fetchKeyEvents } from '../log/log-answers.ts'
import { createMemoryLogState } from '../log-state.ts'
import { pause } from '../pause-and-backoff.ts'
import { caught } from '../false-directory.fixture.ts'
import { introducedKeyId } from './key-introduction.ts'
import { createMemoryPinStore } from './memory-pin-store.ts'

const DIRECTORY = /^\/v1\/directory\/agents\//
const KEY_EVENTS = /^\/log\/key-events$/
const INCLUSION_MS = 20_000

let world: World
let bolt: TestAgent
before(async () => {
  world = await startWorld({ profile: QUICK_LOG, config: { role: 'all' } })
  bolt = await startAgent(world, 'bolt')
})
after(() => world[Symbol.asyncDispose]())

/** An agent whose keys have names of their own, as another implementation registers them. */
const stranger = () => world.organization('stranger')

/** A view of bolt that met the stranger before it rotated. */
async function met(peer: Organization, options: Partial<ContextOptions> = {}) {
  const given = {
    ...bolt.options,
    pins: createMemoryPinStore(),
    log: createMemoryLogState(),
    limits: { attempts: 1 },
    ...options,
  }
  await createContext(given).peers.signingKey(peer.agentId, peer.signing.keyId)
  // As a new process with the same pins and the same state of the log.
  return { ...bolt, options: given, see: () => createContext(given) }
}

/** Rotates by `replaces_key_id`, without an introduction, and waits for the log. */
async function rotated(peer: Organization): Promise<Organization> {
  const signing = await addKey(peer, 'signing', { replaces: peer.signing.keyId })
  await inLog(peer.agentId, signing.keyId)
  return { ...peer, signing }
}

async function inLog(agentId: string, keyId: string): Promise<void> {
  const end = Date.now() + INCLUSION_MS
  for (;;) {
    const { size = 0 } =
      (await checkLog(createContext({ ...bolt.options, log: createMemoryLogState() }))) ?? {}
    const events = await fetchKeyEvents(bolt, agentId)
    const event = events.find((each) => each.key_id === keyId && each.kind === 'registered')
    if (event?.index !== undefined && event.index < size) return
    assert.ok(Date.now() < end, 'the log does not include the key')
    await pause(20)
  }
}

/** The same view behind an exchange whose directory shows other keys. */
function showing(view: View, agentId: string, lie: (keys: DirectoryKey[]) => DirectoryKey[]) {
  return (options: Partial<ContextOptions> = {}) =>
    behindLiar({ ...view, options: { ...view.options, ...options } }, DIRECTORY, (text) => {
      const directory = JSON.parse(text) as KeyDirectory
      return directory.agent_id === agentId
        ? JSON.stringify({ ...directory, keys: lie(directory.keys) })
        : text
    })
}

type View = Awaited<ReturnType<typeof met>>

const byOf = async (view: View, peer: Organization) =>
  (await view.see().peers.pins(peer.agentId))?.keys.find(({ keyId }) => keyId === peer.signing.keyId)?.by

const trusting = (rule: NonNullable<TrustOverrides['O-47']>) => ({ trust: { 'O-47': rule } })

test('[O-47] what a peer signs after it rotated without introductions opens, by its event in the log', async () => {
  const old = await stranger()
  const view = await met(old)
  const peer = await rotated(old)
  const { publicJwk, keyId } = (await bolt.keys.list()).find(({ role }) => role === 'encryption') ?? {}
  assert.ok(publicJwk && keyId)
  const pair = { publicKey: await importPublicJwk(publicJwk) }
  const to = { ...bolt.identity, encryption: { keyId, pair } } as unknown as Organization
  const by = { organization_id: peer.organizationId, agent_id: peer.agentId }
  const object = {
    ...exampleObjects.reasoning_package,
    thread_id: `thread_${peer.agentId}`,
    created_by: by,
    sender: by,
    recipients: [{ organization_id: bolt.identity.organizationId, role: 'buyer', required: true }],
  }
  const { metadata } = await sendPackage(peer, to, {
    threadId: object.thread_id,
    plaintext: canonicalBytes(object),
  })
  const opened = await openPackage(view.see(), metadata.package_id)
  assert.equal(opened.senderKey.keyId, peer.signing.keyId)
  assert.equal(await byOf(view, peer), 'log')
})

test('[O-47] strict waits for a person, directory for nobody; a pin counts only while its rule is set', async () => {
  const old = await stranger()
  const strict = await met(old, trusting({ verifying: 'strict' }))
  const plain = await met(old, trusting({ verifying: 'directory' }))
  const peer = await rotated(old)
  const find = (view: typeof strict) => view.see().peers.signingKey(peer.agentId, peer.signing.keyId)
  await assert.rejects(find(strict), caught('peer_key_unconfirmed'))
  await find(plain)
  assert.equal(await byOf(plain, peer), 'directory')
  const again = (rule: NonNullable<TrustOverrides['O-47']>) => {
    const options = { ...plain.options, ...trusting(rule) }
    return createContext(options).peers.signingKey(peer.agentId, peer.signing.keyId)
  }
  await assert.rejects(again({ verifying: 'strict' }), caught('peer_key_unconfirmed'))
  await again({ verifying: 'logged' })
  assert.equal(await byOf(plain, peer), 'log')
  await assert.rejects(again({ verifying: 'strict' }), caught('peer_key_unconfirmed'))
})

test('[O-47] sealing for a changed key waits for a person, also if a logged key introduced it', async () => {
  const old = await stranger()
  const view = await met(old)
  const peer = await rotated(old)
  await view.see().peers.signingKey(peer.agentId, peer.signing.keyId)
  const { agentId, organizationId } = peer
  const { publicKey } = await generateKeyPair('encryption')
  const about = { organizationId, agentId, use: 'encryption' as const }
  for (const key_id of [
    'enc_next',
    await introducedKeyId(peer.signing.pair.privateKey, about, publicKey.jwk),
  ]) {
    const lying = showing(view, agentId, (keys) => [
      ...keys.filter(({ use }) => use === 'signing'),
      {
        ...(keys.find(({ use }) => use === 'encryption') as DirectoryKey),
        key_id,
        public_key: publicKey.jwk,
      },
    ])
    await assert.rejects(lying().peers.encryptionKey(agentId), caught('peer_key_unconfirmed'))
    const plain = lying(trusting({ sealing: 'directory' }))
    assert.equal((await plain.peers.encryptionKey(agentId)).keyId, key_id)
    await assert.rejects(lying().peers.encryptionKey(agentId), caught('peer_key_unconfirmed'))
  }
})

test('[O-47] a signing key that a logged key introduced counts for verifying, on the same word', async () => {
  const old = await stranger()
  const view = await met(old)
  const peer = await rotated(old)
  await view.see().peers.signingKey(peer.agentId, peer.signing.keyId)
  const { agentId, organizationId } = peer
  const { publicKey } = await generateKeyPair('signing')
  const about = { organizationId, agentId, use: 'signing' as const }
  const key_id = await introducedKeyId(peer.signing.pair.privateKey, about, publicKey.jwk)
  const lying = showing(view, agentId, (keys) => [
    ...keys,
    { ...(keys[0] as DirectoryKey), use: 'signing', key_id, public_key: publicKey.jwk },
  ])
  assert.equal((await lying().peers.signingKey(agentId, key_id)).keyId, key_id)
  assert.equal(await byOf(view, { ...peer, signing: { ...peer.signing, keyId: key_id } }), 'log')
  const strict = lying(trusting({ verifying: 'strict' }))
  await assert.rejects(strict.peers.signingKey(agentId, key_id), caught('peer_key_unconfirmed'))
})

test('[O-47] a peer that once introduced keys must go on, whatever the log holds', async () => {
  const introducing = await startAgent(world, 'introducing')
  const { agentId } = introducing.identity
  const pins = createMemoryPinStore()
  const see = () => createContext({ ...bolt.options, pins, log: createMemoryLogState() })
  await see().peers.encryptionKey(agentId)
  // Registered and logged as by an operator who holds a key of its own.
  const { publicKey } = await generateKeyPair('signing')
  const key = { key_id: 'false', use: 'signing', format: 'jwk', public_key: publicKey.jwk } as const
  const valid_from = '2026-01-01T00:00:00Z'
  await introducing.connection.call('registerAgentKey', {
    path: { agent_id: agentId },
    body: { ...key, valid_from },
  })
  await inLog(agentId, 'false')
  await assert.rejects(see().peers.signingKey(agentId, 'false'), caught('peer_key_unconfirmed'))
})

test('[O-47] a key that the log does not hold, or holds otherwise, does not count', async () => {
  const old = await stranger()
  const views: View[] = []
  for (let count = 0; count <= 6; count++) views.push(await met(old))
  const peer = await rotated(old)
  type Event = Record<string, unknown> & { number: number; key_id: string }
  const cheats: [string, ExchangeErrorCode, (events: Event[]) => unknown[]][] = [
    [
      'pending',
      'peer_key_unlogged',
      (all) => all.map((each) => ({ ...each, salt: undefined, index: undefined, pending: true })),
    ],
    ['not shown', 'peer_key_unconfirmed', (all) => all.filter(({ key_id }) => key_id !== peer.signing.keyId)],
    ['another salt', 'log_unverifiable', (all) => all.map((each) => ({ ...each, salt: 'A'.repeat(43) }))],
    ['another leaf', 'log_unverifiable', (all) => all.map((each) => ({ ...each, index: 0 }))],
    ['a gap', 'log_unverifiable', (all) => all.filter(({ number }) => number !== 1)],
    [
      'a number far ahead',
      'peer_key_unconfirmed',
      (all) => all.map((each) => ({ ...each, number: each.number + 9_999 })),
    ],
  ]
  for (const [at, [name, code, cheat]] of cheats.entries()) {
    const view = views[at] as View
    const lying = behindLiar(view, KEY_EVENTS, (text) => {
      const answer = JSON.parse(text) as { events: Event[] }
      return JSON.stringify({ ...answer, events: cheat(answer.events) })
    })
    const found = lying.peers.signingKey(peer.agentId, peer.signing.keyId)
    await assert.rejects(found, caught(code), name)
    assert.equal(await byOf(view, peer), undefined, name)
  }
  const view = views.at(-1) as View
  const without = behindLiar(view, /^\/log\/(?:key-events|checkpoint|key)$/, () => undefined)
  await assert.rejects(
    without.peers.signingKey(peer.agentId, peer.signing.keyId),
    caught('exchange_unreachable'),
  )
})

test('[O-47] where the log policy names witnesses, they have to have seen the key', async () => {
  const old = await stranger()
  const { keys = [] } =
    (await checkLog(createContext({ ...bolt.options, log: createMemoryLogState() }))) ?? {}
  const absent = await noteSigner('witness.example/absent', SIGNATURE_TYPE.cosignature, new Uint8Array(32))
  const logs = keys.map((key) => `log ${formatVerifierKey(key)}\n`).join('')
  const named = `${logs}witness absent ${formatVerifierKey(absent.key)}\nquorum absent\n`
  const view = await met(old, { logPolicy: parsePolicy(named) })
  const unwitnessed = await met(old, { logPolicy: parsePolicy(`${logs}quorum none\n`) })
  const peer = await rotated(old)
  const find = () => view.see().peers.signingKey(peer.agentId, peer.signing.keyId)
  await assert.rejects(find(), caught('peer_key_unlogged'))
  await unwitnessed.see().peers.signingKey(peer.agentId, peer.signing.keyId)
  assert.equal(await byOf(unwitnessed, peer), 'log')
})

test('[O-47][AUD-03] a key in a log that contradicts the one seen before is an alarm, not a key', async () => {
  const old = await stranger()
  const view = await met(old)
  const peer = await rotated(old)
  await checkLog(view.see())
  const lying = behindLiar(view, /^\/log\/tile\//, () => 'x')
  await rotated(peer)
  await assert.rejects(lying.peers.signingKey(peer.agentId, peer.signing.keyId))
  assert.equal(await byOf(view, peer), undefined)
})
