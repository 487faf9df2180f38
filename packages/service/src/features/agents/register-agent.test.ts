import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  agentResource,
  createProfile,
  DEFAULT_PROFILE,
  publicKeyRequest,
  validatorOf,
  type AgentRegistration,
} from '@agent-exchange/protocol'
import { generateKeyPair } from '@agent-exchange/crypto'
import { openTestDatabase } from '@agent-exchange/testkit'
import { inTransaction } from '@agent-exchange/database'
import type { Call } from '../../kernel/call.ts'
import { handMadeCall, handMadeContext, perform } from '../../kernel/hand-made-call.fixture.ts'
import { Problem } from '../../kernel/problem.ts'
import { keyRequest, registration, seedOrganizations } from './agent.fixture.ts'
import { getAgent } from './get-agent.ts'
import { registerAgent } from './register-agent.ts'

const database = await openTestDatabase()
const { db } = database
after(() => database[Symbol.asyncDispose]())
await seedOrganizations(db, 'org_acme', 'org_other')

const otherOrganization = { organizationId: 'org_other', agentId: undefined, clientId: 'client_other' }

function register(body: AgentRegistration, given: Partial<Call<'registerAgent'>> = {}) {
  return perform(registerAgent, handMadeCall('registerAgent', { params: {}, query: {}, body, ...given }), db)
}

const problem = (code: string) => (error: unknown) => error instanceof Problem && error.code === code
const fixed = (code: string) => (error: unknown) =>
  problem(code)(error) && Object.keys((error as Problem).details).length === 0

test('[ID-01][ID-02] a registration is stored with its keys, and every caller can read it', async () => {
  const keys = [await keyRequest('sign-1'), await keyRequest('enc-1', { use: 'encryption' })]
  const body = registration({ keys, transport_modes: ['native', 'ds_x'] })
  const answer = await register(body)
  assert.deepEqual(validatorOf(agentResource)(answer), [])
  const { status, registered_at, certification_status, keys: stored, ...rest } = answer
  assert.deepEqual({ ...rest, keys }, body)
  assert.deepEqual(
    [status, registered_at, certification_status],
    ['active', '2026-03-02T08:00:00.000Z', 'uncertified'],
  )
  assert.deepEqual(
    stored.map(({ key_id, status: keyStatus, public_key }) => [key_id, keyStatus, public_key]),
    keys.toReversed().map(({ key_id, public_key }) => [key_id, 'active', public_key]),
  )
  const read = handMadeCall('getAgent', {
    params: { agent_id: body.agent_id },
    query: {},
    body: undefined,
    caller: otherOrganization,
  })
  assert.deepEqual(await getAgent(read, db), answer)
  const events = await db`select kind, actor from agent_key_event where agent_id = ${body.agent_id}`
  assert.deepEqual(
    [...events],
    Array.from({ length: 2 }, () => ({ kind: 'registered', actor: 'client_acme' })),
  )
})

test('[ID-02] an unknown agent is not found, whatever its id', async () => {
  for (const agent_id of ['agent_none', "agent_x' or '1'='1", 'agent_\0', 'a'.repeat(5_000)]) {
    const call = handMadeCall('getAgent', { params: { agent_id }, query: {}, body: undefined })
    await assert.rejects(getAgent(call, db), fixed('resource_not_found'), agent_id)
  }
})

test('[ID-01][AUTH-03] a caller registers agents of its own organization only, and an agent client only its own agent', async () => {
  const body = registration({ agent_id: 'agent_bound' })
  const bound = { organizationId: 'org_acme', agentId: 'agent_else', clientId: 'client_bound' }
  await assert.rejects(register(body, { caller: otherOrganization }), problem('not_permitted'))
  await assert.rejects(register(body, { caller: bound }), problem('not_permitted'))
  assert.equal(
    (await register(body, { caller: { ...bound, agentId: 'agent_bound' } })).agent_id,
    'agent_bound',
  )
})

test('[ID-01] a second registration updates everything but the keys and the status set by the operator', async () => {
  const key = await keyRequest('k')
  const body = registration({ agent_id: 'agent_again', keys: [key] })
  const first = await register(body)
  await db`update agent set status = 'suspended', certification_status = 'certified' where agent_id = 'agent_again'`
  const again = await register(
    {
      ...body,
      implementation_version: '2.0.0',
      skill_versions: {},
      keys: [{ ...key, valid_from: '2026-01-01T00:00:00.000+00:00' }],
    },
    { now: '2026-03-03T08:00:00.000Z' },
  )
  assert.deepEqual(again, {
    ...first,
    implementation_version: '2.0.0',
    skill_versions: {},
    status: 'suspended',
    certification_status: 'certified',
  })
  const [events] = await db`select count(*) as count from agent_key_event where agent_id = 'agent_again'`
  assert.equal(events?.['count'], 1)
})

test('[ID-01] a second registration with other keys is one fixed conflict and changes nothing', async () => {
  const key = await keyRequest('k')
  const body = registration({ agent_id: 'agent_fixed', keys: [key] })
  const first = await register(body)
  const fresh = await keyRequest('k')
  const others = [
    { ...key, public_key: fresh.public_key },
    { ...key, key_id: 'k2' },
    { ...key, use: 'encryption' as const },
    { ...key, valid_from: '2026-01-01T00:00:01Z' },
    { ...key, replaces_key_id: 'k0' },
  ]
  for (const other of others) {
    const changed = { ...body, implementation: 'changed', keys: [other] }
    await assert.rejects(register(changed), fixed('identifier_conflict'))
  }
  await assert.rejects(
    register({ ...body, keys: [key, await keyRequest('k2')] }),
    fixed('identifier_conflict'),
  )
  const read = handMadeCall('getAgent', { params: { agent_id: 'agent_fixed' }, query: {}, body: undefined })
  assert.deepEqual(await getAgent(read, db), first)
})

test("[ID-01] another organization's agent id is the same conflict, whatever the keys", async () => {
  const key = await keyRequest('k')
  await register(registration({ agent_id: 'agent_taken', keys: [key] }))
  const theirs = registration({ agent_id: 'agent_taken', organization_id: 'org_other', keys: [key] })
  await assert.rejects(register(theirs, { caller: otherOrganization }), fixed('identifier_conflict'))
})

test('[ID-01] a deployment may refuse a second registration', async () => {
  const result = createProfile({ 'O-32': { second_registration: 'refuse' } })
  assert.ok(result.ok)
  const context = handMadeContext({ profile: result.profile })
  const body = registration({ agent_id: 'agent_once' })
  await register(body, { context })
  await assert.rejects(register(body, { context }), fixed('identifier_conflict'))
})

test('[ID-06] private material gets its own problem and is neither stored nor echoed', async () => {
  const { privateJwk } = await generateKeyPair('signing')
  const key = { ...(await keyRequest('k')), public_key: privateJwk }
  const broken = {
    ...registration({ agent_id: 'agent_leak', keys: [await keyRequest('ok'), key] }),
    keys_: 1,
  }
  await assert.rejects(
    async () => registerAgent.inspect?.(broken, DEFAULT_PROFILE),
    (error) => {
      assert.ok(problem('private_key_refused')(error))
      assert.deepEqual((error as Problem).details, { pointer: '/keys/1/public_key' })
      return (
        !JSON.stringify(error).includes(privateJwk.d) &&
        !String((error as Error).stack).includes(privateJwk.d)
      )
    },
  )
  await assert.rejects(register(broken), problem('private_key_refused'))
  assert.equal((await db`select 1 from agent where agent_id = 'agent_leak'`).length, 0)
})

test('[ID-06] a body of any other shape is left to schema validation', async () => {
  for (const body of [
    null,
    7,
    [],
    { keys: 7 },
    { keys: [null, { public_key: 7 }] },
    { public_key: { kty: 'EC' } },
  ]) {
    await registerAgent.inspect?.(body, DEFAULT_PROFILE)
  }
})

test('[ID-06] points off the curve, other curves and contradicting uses are refused with their pointer', async () => {
  const good = await keyRequest('k')
  const jwk = good.public_key
  const cases: [object, string][] = [
    [{ ...jwk, y: jwk.x }, 'key_not_on_curve'],
    [{ ...jwk, crv: 'P-384' }, 'key_curve_unsupported'],
    [{ ...jwk, x: jwk.x.slice(1) }, 'key_coordinate_invalid'],
  ]
  for (const [public_key, reason] of cases) {
    const key = { ...good, public_key: public_key as typeof jwk }
    await assert.rejects(register(registration({ agent_id: 'agent_bad', keys: [key] })), (error) => {
      assert.ok(problem('public_key_invalid')(error))
      assert.deepEqual((error as Problem).details, { pointer: '/keys/0/public_key', reason })
      return true
    })
  }
})

test('[ID-06] members of a JWK that contradict its registration are accepted and not kept', async () => {
  const good = await keyRequest('k')
  const jwk = good.public_key
  const decorations: object[] = [
    { kid: 'x', alg: 'ES256', use: 'sig', key_ops: ['verify'], ext: true },
    { use: 'enc', alg: 'ECDH-ES+A256KW', key_ops: ['deriveBits'] },
    { use: 7, alg: null, key_ops: 'sign', kid: { a: 1 }, ext: 'no' },
    { key_ops: [], x5u: 'not an address', x5c: 'MIIB', iat: 'later', 'x5t#S256': [] },
  ]
  for (const [index, decoration] of decorations.entries()) {
    const key = { ...good, public_key: { ...jwk, ...decoration } }
    assert.deepEqual(validatorOf(publicKeyRequest)(key), [])
    const answer = await register(registration({ agent_id: `agent_decorated_${index}`, keys: [key] }))
    assert.deepEqual(answer.keys[0]?.public_key, jwk)
  }
})

test('[ID-06] another curve is accepted for encryption if the profile permits it, never for signing', async () => {
  const result = createProfile({ 'O-28': { encryption_curves: ['P-256', 'P-384'] } })
  assert.ok(result.ok)
  const context = handMadeContext({ profile: result.profile })
  const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-384' }, true, ['deriveBits'])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', pair.publicKey)
  const public_key = { kty: 'EC' as const, crv: 'P-384', x, y }
  const wide = registration({
    agent_id: 'agent_wide',
    keys: [await keyRequest('e', { use: 'encryption', public_key })],
  })
  assert.equal((await register(wide, { context })).keys[0]?.public_key.crv, 'P-384')
  const signing = registration({ agent_id: 'agent_wide2', keys: [await keyRequest('s', { public_key })] })
  await assert.rejects(register(signing, { context }), problem('public_key_invalid'))
})

test('[ID-03] ids and material within one registration must be distinct, and a replacement may precede its predecessor', async () => {
  const key = await keyRequest('a')
  const sameId = registration({ agent_id: 'agent_twins', keys: [key, await keyRequest('a')] })
  await assert.rejects(register(sameId), problem('identifier_conflict'))
  const sameMaterial = registration({ agent_id: 'agent_twins', keys: [key, { ...key, key_id: 'b' }] })
  await assert.rejects(register(sameMaterial), problem('key_not_distinct'))
  const successor = await keyRequest('b', { replaces_key_id: 'a' })
  const answer = await register(registration({ agent_id: 'agent_chain', keys: [successor, key] }))
  assert.deepEqual(
    answer.keys.map(({ key_id, status }) => [key_id, status]),
    [
      ['a', 'retiring'],
      ['b', 'active'],
    ],
  )
})

test('[ID-01] 20 concurrent registrations of one new agent create one agent and one event per key', async () => {
  const body = registration({ agent_id: 'agent_race', keys: [await keyRequest('k')] })
  const answers = await Promise.all(Array.from({ length: 20 }, () => register(body)))
  for (const answer of answers) assert.deepEqual(answer, answers[0])
  assert.equal((await db`select 1 from agent_key_event where agent_id = 'agent_race'`).length, 1)
})

test('[ID-01][O-14] a registration with too many keys is refused before any key is parsed', async () => {
  let looks = 0
  const key = new Proxy({}, { get: () => looks++, has: () => looks++ > -1, ownKeys: () => [`${looks++}`] })
  const keys = Array.from({ length: 17 }, () => key)
  await assert.rejects(
    async () => registerAgent.inspect?.({ keys }, DEFAULT_PROFILE),
    (error) => {
      assert.ok(problem('validation_failed')(error))
      const { failures } = (error as Problem).details as { failures: { pointer: string; rule: string }[] }
      assert.deepEqual(
        failures.map(({ pointer, rule }) => [pointer, rule]),
        [['/keys', 'O-14']],
      )
      return true
    },
  )
  assert.equal(looks, 0)
})

/** The number of statements that a registration with `count` keys sends. */
async function statementsFor(count: number): Promise<number> {
  const keys = await Promise.all(Array.from({ length: count }, (_, index) => keyRequest(`k${index}`)))
  const body = registration({ agent_id: `agent_with_${count}`, keys })
  const call = handMadeCall('registerAgent', { params: {}, query: {}, body })
  const found = await registerAgent.authorize(call, db)
  let statements = 0
  await inTransaction(db, async (tx) => {
    const counting = new Proxy(tx, {
      apply: (query, self, given) => {
        statements += 1
        return Reflect.apply(query, self, given) as unknown
      },
    })
    await registerAgent.run(call, counting, found)
  })
  const events = await db`
    select key_id from agent_key_event where agent_id = ${body.agent_id} order by position`
  assert.deepEqual(
    events.map((row) => row['key_id']),
    keys.map(({ key_id }) => key_id),
  )
  return statements
}

test('[ID-01] registering sixteen keys takes as many statements as registering two', async () => {
  assert.equal(await statementsFor(16), await statementsFor(2))
})

test('[ID-01][O-13] the agent quota is exact under concurrency, and a second registration does not count', async () => {
  await seedOrganizations(db, 'org_small')
  const result = createProfile({ 'O-13': { agents: 3 } })
  assert.ok(result.ok)
  const given = {
    caller: { organizationId: 'org_small', agentId: undefined, clientId: 'client_small' },
    context: handMadeContext({ profile: result.profile }),
  }
  const body = (index: number) =>
    registration({ organization_id: 'org_small', agent_id: `agent_small_${index}` })
  const results = await Promise.allSettled(
    Array.from({ length: 6 }, (_, index) => register(body(index), given)),
  )
  const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason as Problem] : []))
  assert.equal(refused.length, 3)
  for (const { code, details } of refused)
    assert.deepEqual([code, details], ['quota_reached', { quota: 'agents', maximum: 3 }])
  const known = await db<{ agent_id: string }[]>`
    select agent_id from agent where organization_id = 'org_small'`
  assert.equal(known.length, 3)
  const again = registration({ organization_id: 'org_small', agent_id: known[0]?.agent_id ?? '' })
  assert.equal((await register(again, given)).agent_id, again.agent_id)
})
