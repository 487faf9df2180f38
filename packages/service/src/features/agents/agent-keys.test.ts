import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  createProfile,
  DEFAULT_PROFILE,
  keyDirectory,
  validatorOf,
  type PublicKeyRequest,
} from '@agent-exchange/protocol'
import { generateKeyPair } from '@agent-exchange/crypto'
import { openTestDatabase, untilBlocked } from '@agent-exchange/testkit'
import { inTransaction } from '@agent-exchange/database'
import type { Call, Caller } from '../../kernel/call.ts'
import { handMadeCall, handMadeContext, perform } from '../../kernel/hand-made-call.fixture.ts'
import { Problem } from '../../kernel/problem.ts'
import { holdKeys } from '../keys/public-keys.ts'
import { keyRequest, registration, seedOrganizations } from './agent.fixture.ts'
import { lockAgent } from './agent-store.ts'
import { getAgentKeys } from './get-keys.ts'
import { historyOf } from './key-history.ts'
import { registerAgent } from './register-agent.ts'
import { registerAgentKey } from './register-key.ts'
import { revokeAgentKey } from './revoke-key.ts'

const database = await openTestDatabase()
const { db } = database
after(() => database[Symbol.asyncDispose]())
await seedOrganizations(db, 'org_acme', 'org_other')

const acme: Caller = { organizationId: 'org_acme', agentId: undefined, clientId: 'client_acme' }
const other: Caller = { organizationId: 'org_other', agentId: undefined, clientId: 'client_other' }
const compromise = {
  invalid_from: '2026-02-01T00:00:00+00:00',
  reason_code: 'key_compromise',
  evidence_reference: 'ev-1',
}

async function agentWith(agent_id: string, ...keys: PublicKeyRequest[]) {
  const body = registration({ agent_id, keys })
  return perform(registerAgent, handMadeCall('registerAgent', { params: {}, query: {}, body }), db)
}

function addKey(agent_id: string, body: PublicKeyRequest, given: Partial<Call<'registerAgentKey'>> = {}) {
  const call = handMadeCall('registerAgentKey', { params: { agent_id }, query: {}, body, ...given })
  return perform(registerAgentKey, call, db)
}

function revoke(agent_id: string, key_id: string, given: Partial<Call<'revokeAgentKey'>> = {}) {
  const params = { agent_id, key_id }
  const call = handMadeCall('revokeAgentKey', { params, query: {}, body: compromise, ...given })
  return perform(revokeAgentKey, call, db)
}

function directory(agent_id: string, caller = other) {
  return getAgentKeys(
    handMadeCall('getAgentKeys', { params: { agent_id }, query: {}, body: undefined, caller }),
    db,
  )
}

const problem = (code: string) => (error: unknown) => error instanceof Problem && error.code === code

test('[ID-03][ID-07] a replacement becomes active, the replaced key retiring, and the version changes', async () => {
  await agentWith('agent_rotate', await keyRequest('old'))
  const before = await directory('agent_rotate')
  assert.deepEqual(validatorOf(keyDirectory)(before), [])
  assert.equal((await directory('agent_rotate')).directory_version, before.directory_version)

  const added = await addKey('agent_rotate', await keyRequest('new', { replaces_key_id: 'old' }))
  assert.equal(added.status, 'active')
  assert.equal(added.replaces_key_id, 'old')
  const later = await directory('agent_rotate')
  assert.deepEqual(later.keys.map(({ key_id, status }) => `${key_id} ${status}`).toSorted(), [
    'new active',
    'old retiring',
  ])
  assert.notEqual(later.directory_version, before.directory_version)
  const events = await db<
    { key_id: string; kind: string }[]
  >`select key_id, kind from agent_key_event where agent_id = 'agent_rotate' order by position`
  assert.deepEqual(
    events.map(({ key_id, kind }) => `${key_id} ${kind}`),
    ['old registered', 'new registered', 'old retiring'],
  )
  const again = addKey('agent_rotate', await keyRequest('newer', { replaces_key_id: 'old' }))
  await assert.rejects(
    again,
    (error) =>
      problem('invalid_state_transition')(error) && (error as Problem).details['state'] === 'retiring',
  )
})

test('[ID-03] a replacement with the same id or material is refused', async () => {
  const old = await keyRequest('old')
  await agentWith('agent_distinct', old)
  const refused = [
    { ...old, replaces_key_id: 'old' },
    { ...(await keyRequest('old')), replaces_key_id: 'old' },
    { ...old, key_id: 'new', replaces_key_id: 'old' },
    { ...old, key_id: 'new' },
  ]
  for (const key of refused) await assert.rejects(addKey('agent_distinct', key), problem('key_not_distinct'))
  await assert.rejects(addKey('agent_distinct', await keyRequest('old')), problem('identifier_conflict'))
  assert.equal((await addKey('agent_distinct', { ...old, key_id: 'enc', use: 'encryption' })).key_id, 'enc')
  assert.equal((await directory('agent_distinct')).keys.length, 2)
})

test('[ID-03] a replacement must name a key of the same agent and use', async () => {
  await agentWith('agent_names', await keyRequest('sign'))
  await agentWith('agent_neighbour', await keyRequest('theirs'))
  const wrong = [
    await keyRequest('n', { replaces_key_id: 'theirs' }),
    await keyRequest('n', { replaces_key_id: 'sign', use: 'encryption' }),
  ]
  for (const key of wrong) await assert.rejects(addKey('agent_names', key), problem('validation_failed'))
})

test('[ID-04] a revocation is recorded once, with both times, and its event cannot be changed', async () => {
  await agentWith('agent_revoke', await keyRequest('k'))
  const before = await directory('agent_revoke')
  const revoked = await revoke('agent_revoke', 'k')
  assert.deepEqual(
    [revoked.status, revoked.revoked_at, revoked.invalid_from],
    ['revoked', '2026-03-02T08:00:00.000Z', '2026-02-01T00:00:00Z'],
  )
  const later = await directory('agent_revoke')
  assert.deepEqual(later.keys, [revoked])
  assert.notEqual(later.directory_version, before.directory_version)
  await assert.rejects(revoke('agent_revoke', 'k'), (error) => {
    return problem('invalid_state_transition')(error) && (error as Problem).details['state'] === 'revoked'
  })
  const [event] =
    await db`select actor, details from agent_key_event where agent_id = 'agent_revoke' and kind = 'revoked'`
  assert.equal(event?.['actor'], 'client_acme')
  assert.deepEqual(JSON.parse(String(event?.['details'])), {
    ...compromise,
    invalid_from: '2026-02-01T00:00:00Z',
    correlation_id: 'corr_test',
  })
  await assert.rejects(db`update agent_key_event set kind = 'registered'`, /append-only/)
  await assert.rejects(db`delete from agent_key_event`, /append-only/)
  await assert.rejects(db`truncate agent_key_event`, /append-only/)
})

test('[ID-04] revoked material is refused under another id or use, and a revoked key may be replaced', async () => {
  const stolen = await keyRequest('stolen')
  await agentWith('agent_stolen', stolen)
  await revoke('agent_stolen', 'stolen')
  for (const use of ['signing', 'encryption'] as const) {
    await assert.rejects(
      addKey('agent_stolen', { ...stolen, key_id: 'back', use }),
      problem('key_not_distinct'),
    )
  }
  await addKey('agent_stolen', await keyRequest('fresh', { replaces_key_id: 'stolen' }))
  const { keys } = await directory('agent_stolen')
  assert.deepEqual(keys.map(({ status }) => status).toSorted(), ['active', 'revoked'])
})

test('[ID-03][ID-04][AUTH-03] keys of other organizations look like unknown keys', async () => {
  await agentWith('agent_mine', await keyRequest('k'))
  const fresh = await keyRequest('n')
  await assert.rejects(addKey('agent_mine', fresh, { caller: other }), problem('resource_not_found'))
  await assert.rejects(addKey('agent_nobody', fresh), problem('resource_not_found'))
  await assert.rejects(revoke('agent_mine', 'k', { caller: other }), problem('resource_not_found'))
  for (const id of ['none', "k' or true --", 'k\0', 'k'.repeat(4_000)]) {
    await assert.rejects(revoke('agent_mine', id), problem('resource_not_found'))
  }
  const bound = { ...acme, agentId: 'agent_else' }
  await assert.rejects(addKey('agent_mine', fresh, { caller: bound }), problem('not_permitted'))
  await assert.rejects(revoke('agent_mine', 'k', { caller: bound }), problem('not_permitted'))
  const own = { ...acme, agentId: 'agent_mine' }
  assert.equal((await addKey('agent_mine', fresh, { caller: own })).key_id, 'n')
  assert.equal((await revoke('agent_mine', 'n', { caller: own })).status, 'revoked')
  await assert.rejects(directory('agent_nobody'), problem('resource_not_found'))
  await assert.rejects(directory('agent_\0'), problem('resource_not_found'))
})

test('[ID-06] private material in a new key is refused before schema validation', async () => {
  const { privateJwk } = await generateKeyPair('signing')
  const body = { key_id: 7, public_key: { ...privateJwk, crv: 'nonsense' }, extra: true }
  await assert.rejects(
    async () => registerAgentKey.inspect?.(body, DEFAULT_PROFILE),
    problem('private_key_refused'),
  )
})

test('[ID-03] of many concurrent registrations of one id or one material one succeeds and the others conflict', async () => {
  await agentWith('agent_race')
  const key = await keyRequest('k')
  let race: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([])
  // All wait for the same lock, so that none has seen another's key.
  await inTransaction(db, async (tx) => {
    await lockAgent(tx, 'agent_race')
    const same = Array.from({ length: 3 }, () => addKey('agent_race', key))
    const renamed = Array.from({ length: 3 }, (_, index) =>
      addKey('agent_race', { ...key, key_id: `k${index}` }),
    )
    race = Promise.allSettled([...same, ...renamed])
    // Half of the connections are for transactions, and this one has one of them.
    await untilBlocked({ sql: tx }, 3)
  })
  const results = await race
  const losers = results.filter((result) => result.status === 'rejected')
  assert.equal(losers.length, 5)
  for (const { reason } of losers) {
    assert.ok(problem('identifier_conflict')(reason) || problem('key_not_distinct')(reason), String(reason))
  }
  assert.equal((await db`select 1 from agent_key_event where agent_id = 'agent_race'`).length, 1)
})

test('[ID-05] a revocation waits for transactions that use the key; these finish first or see it', async () => {
  await agentWith('agent_lock', await keyRequest('k'))
  const order: string[] = []
  let revocation: Promise<unknown> = Promise.resolve()
  await inTransaction(db, async (tx) => {
    await holdKeys(tx, [{ agentId: 'agent_lock', keyId: 'k' }])
    revocation = revoke('agent_lock', 'k').then(() => order.push('revoked'))
    await untilBlocked({ sql: tx }, 1)
    order.push('used')
  })
  await revocation
  assert.deepEqual(order, ['used', 'revoked'])
})

test('[ID-07] an agent without keys has an empty directory', async () => {
  await agentWith('agent_empty')
  const { keys, directory_version, organization_id } = await directory('agent_empty')
  assert.deepEqual([keys, directory_version, organization_id], [[], '0', 'org_acme'])
})

const withQuotas = (quotas: object) => {
  const result = createProfile({ 'O-13': quotas })
  assert.ok(result.ok)
  return handMadeContext({ profile: result.profile })
}
const quota = (name: string, maximum: number) => (error: unknown) => {
  assert.ok(error instanceof Problem)
  assert.deepEqual([error.code, error.details], ['quota_reached', { quota: name, maximum }])
  return true
}

test('[ID-03][O-13] the key quota of an agent includes revoked keys', async () => {
  const context = withQuotas({ keys_per_agent: 3 })
  await agentWith('agent_full', await keyRequest('k0'), await keyRequest('k1'))
  await revoke('agent_full', 'k0')
  await addKey('agent_full', await keyRequest('k2'), { context })
  await assert.rejects(addKey('agent_full', await keyRequest('k3'), { context }), quota('keys_per_agent', 3))
  const keys = await Promise.all(['a', 'b', 'c', 'd'].map((id) => keyRequest(id)))
  const body = registration({ agent_id: 'agent_fuller', keys })
  const call = handMadeCall('registerAgent', { params: {}, query: {}, body, context })
  await assert.rejects(perform(registerAgent, call, db), quota('keys_per_agent', 3))
  await assert.rejects(directory('agent_fuller'), problem('resource_not_found'))
})

const endingAt = (invalid_from: string, now = '2026-03-02T08:00:00.000Z') => ({
  body: { ...compromise, invalid_from },
  now,
})

test('[ID-04] a further revocation moves invalid_from earlier, never later, and adds its own event', async () => {
  await agentWith('agent_emergency', await keyRequest('k'))
  await revoke('agent_emergency', 'k', endingAt('2026-12-31T00:00:00Z'))
  const planned = await directory('agent_emergency')
  const emergency = endingAt('2026-03-01T00:00:00+00:00', '2026-03-03T09:00:00.000Z')
  const revoked = await revoke('agent_emergency', 'k', emergency)
  assert.deepEqual(
    [revoked.status, revoked.revoked_at, revoked.invalid_from],
    ['revoked', '2026-03-03T09:00:00.000Z', '2026-03-01T00:00:00Z'],
  )
  for (const time of ['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.001Z', '2027-01-01T00:00:00Z']) {
    await assert.rejects(revoke('agent_emergency', 'k', endingAt(time)), (error) => {
      assert.ok(problem('invalid_state_transition')(error))
      const { details } = error as Problem
      assert.deepEqual(details, { state: 'revoked', invalid_from: '2026-03-01T00:00:00Z' })
      return true
    })
  }
  const { keys, directory_version } = await directory('agent_emergency')
  assert.deepEqual(keys, [revoked])
  assert.notEqual(directory_version, planned.directory_version)
  const events = await historyOf(db, [{ agentId: 'agent_emergency', keyId: 'k' }])
  assert.deepEqual(
    events[0]?.events.map(({ kind, recorded_at, details }) => [kind, recorded_at, details]),
    [
      ['registered', '2026-03-02T08:00:00.000Z', {}],
      ['revoked', '2026-03-02T08:00:00.000Z', { invalid_from: '2026-12-31T00:00:00Z' }],
      ['revoked', '2026-03-03T09:00:00.000Z', { invalid_from: '2026-03-01T00:00:00Z' }],
    ],
  )
})

test('[ID-04][O-13] revocations of a key are limited, but the limit never prevents ending a usable key', async () => {
  const context = withQuotas({ revocations_per_key: 2 })
  const again = (time: string) => revoke('agent_flood', 'k', { ...endingAt(time), context })
  await agentWith('agent_flood', await keyRequest('k'))
  await again('2090-01-03T00:00:00Z')
  await again('2090-01-02T00:00:00Z')
  await assert.rejects(again('2090-01-01T00:00:00Z'), quota('revocations_per_key', 2))
  assert.equal((await again('2026-03-02T08:00:00Z')).invalid_from, '2026-03-02T08:00:00Z')
  await assert.rejects(again('2026-03-02T07:00:00Z'), quota('revocations_per_key', 2))
})

test('[ID-04] of concurrent revocations the earliest invalid_from wins', async () => {
  await agentWith('agent_at_once', await keyRequest('k'))
  const times = Array.from({ length: 8 }, (_, index) => `2026-02-0${index + 1}T00:00:00Z`)
  const results = await Promise.allSettled(times.map((time) => revoke('agent_at_once', 'k', endingAt(time))))
  const done = results.filter(({ status }) => status === 'fulfilled').length
  const { keys } = await directory('agent_at_once')
  assert.equal(keys[0]?.invalid_from, times[0])
  const events = await db`
    select from agent_key_event where agent_id = 'agent_at_once' and kind = 'revoked'`
  assert.equal(events.length, done)
})
