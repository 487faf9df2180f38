import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { importPublicJwk, signWebhook, verifyWebhook, type WebhookKey } from '@agent-exchange/crypto'
import { createProfile, type NotificationKeyDirectory } from '@agent-exchange/protocol'
import { startWorld, type World } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { secondsAfter } from '@agent-exchange/server/clock'
import { randomId } from '../../kernel/ids.ts'
import { platformIdentity } from '../../features/agents/platform-identity.ts'
import { openPlatformKeys } from '../../platform-keys/platform-keys.ts'
import { maintainKeys } from './maintain-keys.ts'
import { moveToCurrentKey } from './move-endpoints.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
const overrides = { 'O-38': { retiring_days: 1 } }
const created = createProfile(overrides)
assert.ok(created.ok)
const { profile } = created
/** Two days, for receivers that refresh daily. */
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
    masterKeys: () => ({ current: masterKey }),
    profile,
    clock,
    newId: randomId,
    identity: platformIdentity,
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

async function standbyOf(world: World): Promise<string> {
  const [row] = await world.sql`select key_id from platform_key where standby and status = 'active'`
  return String(row?.['key_id'])
}

test('[EVT-13][ID-08] through a rotation an agent that refreshes daily verifies every delivery; endpoints keep their key until the lead has passed', async () => {
  const { world, signed, directory, maintain, keyOfEndpoint, firstKey } = await exchange()
  const agent = pinningAgent(directory, world)
  await agent.refresh()
  const before = agent.version()
  const rotated = await world.operate('POST', '/keys/rotate', { reason: 'yearly' })
  const next = String(rotated.body['key_id'])
  const used = new Set<string>()
  // Four days: the lead, and the day for which the earlier key retires.
  for (let hours = 0; hours < 4 * 24; hours++) {
    if (hours % 24 === 0) await agent.refresh()
    await maintain()
    const { headers, keyId } = await signed()
    assert.equal((await agent.verify(headers)).keyId, keyId)
    assert.equal(keyId, hours * HOUR < LEAD ? firstKey : next)
    used.add(keyId)
    world.clock.advance(HOUR)
  }
  assert.deepEqual([...used], [firstKey, next])
  assert.notEqual(agent.version(), before)
  assert.equal(await keyOfEndpoint(), next)
  const { keys } = await directory()
  assert.deepEqual(
    keys.map((key) => key.key_id),
    [next, await standbyOf(world)],
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

test('[EVT-13][ID-08] a revoked key signs nothing more and stays listed; endpoints have the standby key at once, which agents have pinned', async () => {
  const { world, signed, directory, keyOfEndpoint, firstKey, maintain } = await exchange()
  const agent = pinningAgent(directory, world)
  await agent.refresh()
  const old = await signed()
  const before = agent.version()
  const standby = await standbyOf(world)
  const revoked = await world.operate('POST', `/keys/${firstKey}/revoke`, { reason: 'seen in a log' })
  assert.equal(revoked.status, 200, JSON.stringify(revoked.body))
  assert.deepEqual(
    [revoked.body['status'], revoked.body['moved_endpoints'], revoked.body['replacement_key_id']],
    ['revoked', 1, standby],
  )
  assert.equal(await keyOfEndpoint(), standby)
  assert.equal((await agent.verify((await signed()).headers)).keyId, standby, 'without a refresh')
  await agent.refresh()
  assert.notEqual(agent.version(), before)
  await assert.rejects(agent.verify(old.headers), { code: 'webhook_key_revoked' })
  const listed = (await directory()).keys.find((key) => key.key_id === firstKey)
  assert.deepEqual([listed?.status, listed?.revoked_at], ['revoked', listed?.invalid_from])
  const [entry] =
    await world.sql`select actor, reason, details from operator_log where action = 'keys.revoke'`
  assert.deepEqual([entry?.['actor'], entry?.['reason']], ['admin', 'seen in a log'])

  const again = await world.operate('POST', `/keys/${firstKey}/revoke`, { reason: 'x' })
  assert.deepEqual([again.status, again.body['code']], [409, 'invalid_state_transition'])
  assert.equal((await world.operate('POST', '/keys/key_none/revoke', { reason: 'x' })).status, 404)
  assert.equal((await world.operate('POST', `/keys/${standby}/revoke`, {})).status, 422)
  world.clock.advance(2 * LEAD)
  await maintain()
  assert.equal(await keyOfEndpoint(), standby)
})

test('[EVT-13] after an emergency a successor that is on its way takes over at its time', async () => {
  const { world, keyOfEndpoint, firstKey, maintain } = await exchange()
  const standby = await standbyOf(world)
  const successor = String((await world.operate('POST', '/keys/rotate', {})).body['key_id'])
  const emergency = await world.operate('POST', `/keys/${firstKey}/revoke`, { reason: 'lost' })
  assert.equal(emergency.body['replacement_key_id'], standby)
  world.clock.advance(LEAD - 60)
  await maintain()
  assert.equal(await keyOfEndpoint(), standby)
  world.clock.advance(120)
  await maintain()
  assert.equal(await keyOfEndpoint(), successor)
  const second = await world.operate('POST', `/keys/${successor}/revoke`, { reason: 'lost too' })
  assert.notEqual(second.body['replacement_key_id'], successor)
  assert.equal(await keyOfEndpoint(), second.body['replacement_key_id'])
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
      [await standbyOf(world), 'active', 0],
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

test('[AUTH-01][AUTH-02] token keys rotate and are revoked without a restart; tokens of the earlier key stay valid', async () => {
  const { world } = await exchange()
  const owner = await world.organization('rotating')
  const lead = profile['O-08'].key_lead_seconds
  const jwks = async () => {
    const answer = (await (await fetch(`${world.url}/oauth/jwks`)).json()) as { keys: { kid: string }[] }
    return answer.keys.map(({ kid }) => kid)
  }
  const kidOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid as string
  const ask = async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'x-correlation-id': 'corr_1' }
    return (await fetch(`${world.url}/v1/notifications`, { headers })).status
  }
  const first = await owner.token()
  const rotated = await world.operate('POST', '/keys/rotate', { purpose: 'token' })
  assert.equal(rotated.status, 200, JSON.stringify(rotated.body))
  const next = String(rotated.body['key_id'])
  world.clock.advance(6)
  assert.deepEqual(await jwks(), [kidOf(first), next])
  world.clock.advance(lead - 60)
  const last = await owner.token()
  assert.equal(kidOf(last), kidOf(first))
  world.clock.advance(60)
  assert.deepEqual(await jwks(), [next, kidOf(first)])
  assert.equal(await ask(last), 200, 'the earlier key verifies until its tokens have ended')
  world.clock.advance(200)
  const second = await owner.token()
  assert.equal(kidOf(second), next)

  const listed = (await world.operate('GET', '/keys?purpose=token')).body['keys'] as { key_id: string }[]
  assert.equal(listed.length, 2)
  assert.equal(await ask(second), 200)
  assert.equal((await world.operate('POST', `/keys/${next}/revoke`, { reason: 'stolen' })).status, 200)
  world.clock.advance(6)
  assert.equal(await ask(second), 401)
  assert.ok(!(await jwks()).includes(next))
  world.clock.advance(300)
  assert.equal(await ask(await owner.token()), 200)
  assert.equal((await world.operate('POST', '/keys/rotate', { purpose: 'other' })).status, 422)
})
