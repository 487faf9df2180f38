import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, test } from 'node:test'
import {
  leafOfShownEvent,
  leafHash,
  openCheckpoint,
  parseProof,
  parseVerifierKey,
  verifyInclusion,
} from '@agent-exchange/log'
import { organizations, sendPackage, startWorld } from '@agent-exchange/testkit'
import { provedItems, publishedStatus, QUICK_LOG } from './quick-log.fixture.ts'

const world = await startWorld({ profile: QUICK_LOG, config: { role: 'all' } })
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await organizations(world, 'seats', 'cars')
const keyTexts = async () => (await seats.get('/log/key')).body['verifier_keys'] as string[]
const isLarger = (size: unknown) => (status: Record<string, unknown>) => Number(status['size']) > Number(size)

interface PlatformEvent {
  readonly number: number
  readonly key_id: string
  readonly kind: string
  readonly use: string
  readonly thumbprint: string
  readonly valid_from: string
  readonly recorded_at: string
  readonly organization_id: string
  readonly invalid_from?: string
  readonly salt: string
  readonly proof: string
}

async function platformEvents(): Promise<{ events: PlatformEvent[]; checkpoint: string }> {
  const { items, checkpoint } = await provedItems(seats, '/log/key-events?agent_id=agent_platform', 'events')
  return { events: items as unknown as PlatformEvent[], checkpoint }
}

test('[ID-04] keys of every purpose of the platform are leaves, numbered without gaps', async () => {
  await world.operate('POST', '/keys/rotate', { purpose: 'token' })
  const webhook = (await world.operate('POST', '/keys/rotate', { purpose: 'webhook' })).body['key_id']
  await world.operate('POST', `/keys/${String(webhook)}/revoke`, { reason: 'test' })
  const { events, checkpoint } = await platformEvents()
  assert.deepEqual(
    events.map(({ number }) => number),
    events.map((_, at) => at + 1),
  )
  assert.deepEqual(new Set(events.map(({ use }) => use)), new Set(['signing', 'webhook', 'token', 'log']))
  const revoked = events.find(({ kind, key_id }) => kind === 'revoked' && key_id === webhook)
  assert.ok(revoked?.invalid_from)
  const { size, root } = await openCheckpoint(checkpoint, (await keyTexts()).map(parseVerifierKey))
  for (const event of events) {
    const leaf = leafOfShownEvent({ ...event, agent_id: 'agent_platform' })
    const { index, hashes } = parseProof(event.proof)
    verifyInclusion({ index, size, root, leafHash: leafHash(leaf), proof: hashes })
  }
  const directory = await seats.get('/v1/directory/agents/agent_platform/keys')
  assert.equal((directory.body['keys'] as unknown[]).length, 1, 'agents see statement keys only')
})

test('after a rotation of the log key both keys sign, and both are leaves', async () => {
  const before = await publishedStatus(world)
  const [old = ''] = await keyTexts()
  const rotated = await world.operate('POST', '/keys/rotate', { purpose: 'log', reason: 'yearly' })
  assert.equal(rotated.status, 200, JSON.stringify(rotated.body))
  world.clock.advance(6)
  const texts = await keyTexts()
  assert.equal(texts.length, 2)
  assert.equal(texts[1], old)
  await sendPackage(seats, cars)
  await publishedStatus(world, isLarger(before['size']))
  const note = (await seats.get('/log/checkpoint')).text
  for (const text of texts)
    assert.equal((await openCheckpoint(note, [parseVerifierKey(text)])).signatures.length, 1)
  const { events } = await platformEvents()
  const x = Buffer.from(parseVerifierKey(texts[0] ?? '').publicKey).toString('base64url')
  const thumbprint = hash('sha256', JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }), 'base64url')
  assert.ok(events.some((event) => event.thumbprint === thumbprint && event.use === 'log'))
  assert.ok(events.some(({ kind, use }) => kind === 'retiring' && use === 'log'))
})

test('a log key is not revoked alone: whoever has it could still sign under this name', async () => {
  const { keys } = (await world.operate('GET', '/keys?purpose=log')).body as { keys: { key_id: string }[] }
  const answer = await world.operate('POST', `/keys/${keys[0]?.key_id}/revoke`, { reason: 'stolen' })
  assert.equal(answer.body['code'], 'validation_failed', JSON.stringify(answer.body))
  assert.match(JSON.stringify(answer.body), /aex log recover --new-origin/u)
})

test('[O-07] more log keys than a checkpoint has room for are refused', async () => {
  for (let keys = (await keyTexts()).length; keys < 32; keys++)
    assert.equal(
      (await world.operate('POST', '/keys/rotate', { purpose: 'log', reason: 'test' })).status,
      200,
    )
  const refused = await world.operate('POST', '/keys/rotate', { purpose: 'log', reason: 'test' })
  assert.deepEqual(refused.body['details'], { quota: 'log_keys', maximum: 32 })
})
