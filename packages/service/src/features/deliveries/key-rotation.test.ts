import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { importPublicJwk, signWebhook, verifyWebhook, type WebhookKey } from '@agent-exchange/crypto'
import { createProfile, type NotificationKeyDirectory } from '@agent-exchange/protocol'
import { startWorld, type World } from '@agent-exchange/testkit'
import { openDatabase } from '../../db/database.ts'
import { secondsAfter } from '../../kernel/clock.ts'
import { randomId } from '../../kernel/ids.ts'
import { openPlatformKeys } from '../../kernel/platform-keys.ts'
import { maintainKeys } from './maintain-keys.ts'
import { moveToCurrentKey } from './move-endpoints.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
const overrides = { 'O-38': { retiring_days: 1 } }
const created = createProfile(overrides)
assert.ok(created.ok)
const { profile } = created
const LEAD = profile['O-38'].lead_seconds
const body = Buffer.from('{"event_id":"evt_1"}')
const url = 'https://receiver.example/hook'

/** A world with an endpoint; its own clock may be moved, its tasks are run by hand. */
async function exchange() {
  const world = await startWorld({ profile: overrides, config: { role: 'api' } })
  after(() => world[Symbol.asyncDispose]())
  const { clock, masterKey } = world
  const db = openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'test' })
  after(() => db.end())
  const { webhook } = await openPlatformKeys({
    db,
    masterKey,
    profile,
    clock,
    newId: randomId,
  })
  const owner = await world.organization('owner')
  const endpoint = await owner.post('/v1/webhook-endpoints', { url, event_types: [] })
  const id = String(endpoint.body['webhook_endpoint_id'])
  const keyOfEndpoint = async () => {
    const [row] =
      await world.sql`select signing_key_id from webhook_endpoint where webhook_endpoint_id = ${id}`
    return String(row?.['signing_key_id'])
  }
  return {
    world,
    id,
    keyOfEndpoint,
    firstKey: String(endpoint.body['signing_key_id']),
    /** What the periodic tasks do. */
    async maintain() {
      await maintainKeys(db, webhook, clock.now())
      return moveToCurrentKey(db, webhook, clock.now())
    },
    /** As the delivery engine signs: with the endpoint's key. */
    async signed() {
      const keyId = await keyOfEndpoint()
      const signing = await webhook.signingKey(db, keyId, clock.now())
      assert.ok(signing, `${keyId} may not sign at ${clock.now()}`)
      const delivery = { url, body, deliveryId: 'dlv_1', eventId: 'evt_1', attempt: 1 }
      return { headers: await signWebhook(delivery, { ...signing, created: new Date(clock.now()) }), keyId }
    },
    directory: async () =>
      (await owner.get('/v1/directory/notification-keys')).body as unknown as NotificationKeyDirectory,
  }
}

/** An agent that knows nothing but the directory it pinned. */
function pinningAgent(directory: () => Promise<NotificationKeyDirectory>, world: World) {
  let pinned = new Map<string, WebhookKey>()
  let version = ''
  return {
    version: () => version,
    /** The earliest end of what it has pinned: it has to refresh before. */
    validUntil: () => [...pinned.values()].map((key) => String(key.valid_until)).toSorted()[0] ?? '',
    async refresh() {
      const { keys, directory_version } = await directory()
      version = directory_version
      const entries = keys.map(async (key) => {
        const { key_id, status, valid_from, valid_until } = key
        const publicKey = await importPublicJwk(key.public_key)
        return [key_id, { publicKey, status, valid_from, valid_until: valid_until ?? null }] as const
      })
      pinned = new Map(await Promise.all(entries))
    },
    async verify(headers: Readonly<Record<string, string>>) {
      const request = { method: 'POST', url, headers, body }
      const now = new Date(world.clock.now())
      return verifyWebhook(request, { keys: (keyId) => pinned.get(keyId), now })
    },
  }
}

test('[EVT-13][ID-08] through a rotation an agent that refreshes within the lead time verifies every delivery', async () => {
  const { world, signed, directory, maintain, keyOfEndpoint, firstKey } = await exchange()
  const agent = pinningAgent(directory, world)
  await agent.refresh()
  const before = agent.version()
  const rotated = await world.operate('POST', '/keys/rotate', { reason: 'yearly' })
  const next = String(rotated.body['key_id'])
  const used = new Set<string>()
  // A day and a half, closely where it matters; the agent refreshes every fifty minutes or sooner.
  let refreshed = 0
  for (let minutes = 0; minutes < 36 * 60;) {
    if (minutes - refreshed >= 40) {
      await agent.refresh()
      refreshed = minutes
    }
    await maintain()
    const { headers, keyId } = await signed()
    assert.equal((await agent.verify(headers)).keyId, keyId)
    assert.equal(keyId, minutes * 60 < LEAD ? firstKey : next)
    used.add(keyId)
    const step = minutes < 180 ? 10 : 45
    minutes += step
    world.clock.advance(step * 60)
  }
  assert.deepEqual([...used], [firstKey, next])
  assert.notEqual(agent.version(), before)
  assert.equal(await keyOfEndpoint(), next)
  const { keys } = await directory()
  assert.deepEqual(
    keys.map((key) => key.key_id),
    [next],
  )
  const moves =
    await world.sql`select actor, target, details from operator_log where action = 'keys.move_endpoints'`
  assert.deepEqual(
    moves.map((row) => ({ ...row })),
    [{ actor: 'service', target: next, details: '{"moved_endpoints":1}' }],
  )
})

test('[EVT-13] when nobody rotates, an agent that refreshes only shortly before valid_until verifies throughout', async () => {
  const { world, signed, directory, maintain } = await exchange()
  const agent = pinningAgent(directory, world)
  await agent.refresh()
  const used = new Set<string>()
  for (let day = 0; day < 800; day += day % 365 < 300 ? 20 : 1) {
    await maintain()
    if (agent.validUntil() < secondsAfter(world.clock.now(), 2 * DAY)) await agent.refresh()
    const { headers, keyId } = await signed()
    assert.equal((await agent.verify(headers)).keyId, keyId, `day ${day}`)
    used.add(keyId)
    world.clock.advance((day % 365 < 300 ? 20 : 1) * DAY)
  }
  assert.equal(used.size, 3)
  const renewals =
    await world.sql`select actor, target from operator_log where action = 'keys.renew' order by entry`
  assert.deepEqual(
    renewals.map((row) => [row['actor'], row['target']]),
    [...used].slice(1).map((keyId) => ['service', keyId]),
  )
})

test('[EVT-13] a revoked key leaves the directory and signs nothing more; endpoints have another at once', async () => {
  const { world, signed, directory, keyOfEndpoint, firstKey, maintain } = await exchange()
  const agent = pinningAgent(directory, world)
  await agent.refresh()
  const old = await signed()
  const before = agent.version()
  const revoked = await world.operate('POST', `/keys/${firstKey}/revoke`, { reason: 'seen in a log' })
  assert.equal(revoked.status, 200, JSON.stringify(revoked.body))
  const next = String(revoked.body['replacement_key_id'])
  assert.deepEqual(
    [revoked.body['status'], revoked.body['moved_endpoints'], await keyOfEndpoint()],
    ['revoked', 1, next],
  )
  assert.notEqual(next, firstKey)
  await agent.refresh()
  assert.notEqual(agent.version(), before)
  await assert.rejects(agent.verify(old.headers), { code: 'webhook_key_unknown' })
  assert.equal((await agent.verify((await signed()).headers)).keyId, next)
  const [entry] =
    await world.sql`select actor, reason, details from operator_log where action = 'keys.revoke'`
  assert.deepEqual([entry?.['actor'], entry?.['reason']], ['admin', 'seen in a log'])

  const again = await world.operate('POST', `/keys/${firstKey}/revoke`, { reason: 'x' })
  assert.deepEqual([again.status, again.body['code']], [409, 'invalid_state_transition'])
  assert.equal((await world.operate('POST', '/keys/key_none/revoke', { reason: 'x' })).status, 404)
  assert.equal((await world.operate('POST', `/keys/${next}/revoke`, {})).status, 422)
  // Keys that sign tokens and statements are not meant.
  const [token] = await world.sql`select key_id from platform_key where purpose = 'token'`
  assert.equal(
    (await world.operate('POST', `/keys/${String(token?.['key_id'])}/revoke`, { reason: 'x' })).status,
    404,
  )

  // The emergency key stays in charge, also when the successor that it replaced would have started.
  world.clock.advance(2 * LEAD)
  await maintain()
  assert.equal(await keyOfEndpoint(), next)
})

test('[EVT-13] revoking while the successor is not known yet makes a key of its own; one that signs already is used', async () => {
  const { world, keyOfEndpoint, firstKey, maintain } = await exchange()
  const successor = String((await world.operate('POST', '/keys/rotate', {})).body['key_id'])
  const emergency = await world.operate('POST', `/keys/${firstKey}/revoke`, { reason: 'lost' })
  const made = String(emergency.body['replacement_key_id'])
  assert.ok(made !== successor && made !== firstKey)
  world.clock.advance(LEAD + 60)
  await maintain()
  assert.equal(await keyOfEndpoint(), made)
  // Both sign by now; the retiring one is there to step in.
  const second = await world.operate('POST', `/keys/${made}/revoke`, { reason: 'lost too' })
  assert.equal(second.body['replacement_key_id'], successor)
})

test('keys are listed with their status and how many endpoints each signs for', async () => {
  const { world, firstKey } = await exchange()
  const rotated = await world.operate('POST', '/keys/rotate', {})
  const { body: listed } = await world.operate('GET', '/keys')
  const keys = listed['keys'] as Record<string, unknown>[]
  assert.deepEqual(
    keys.map((key) => [key['key_id'], key['status'], key['endpoints']]),
    [
      [rotated.body['key_id'], 'active', 0],
      [firstKey, 'retiring', 1],
    ],
  )
  assert.ok(keys.every((key) => key['valid_from'] && key['valid_until']))
  await world.operate('POST', `/keys/${firstKey}/revoke`, { reason: 'x' })
  const later = (await world.operate('GET', '/keys')).body['keys'] as Record<string, unknown>[]
  const gone = later.find((key) => key['key_id'] === firstKey)
  assert.deepEqual(
    [gone?.['status'], gone?.['endpoints'], typeof gone?.['revoked_at']],
    ['revoked', 0, 'string'],
  )
  assert.doesNotMatch(JSON.stringify(later), /private|"d":/)
})
