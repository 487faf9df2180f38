import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { generateKeyPair } from '@agent-exchange/crypto'
import { assertProblem, setScene, startWorld, type World } from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const scene = await setScene(world)

type Body = Record<string, unknown>
type Records = { type: string; data: Body }[]

async function exported(at: World, id: string): Promise<Records> {
  const begun = await at.operate('POST', `/organizations/${id}/export`, { reason: 'asked for it' })
  assert.equal(begun.status, 200, JSON.stringify(begun.body))
  const records: Records = []
  let cursor = begun.body['next_cursor']
  for (let page = 0; page < 1_000 && typeof cursor === 'string'; page++) {
    const { body } = await at.operate('GET', `/organizations/${id}/export?after=${cursor}`)
    records.push(...(body['records'] as Records))
    cursor = body['next_cursor']
  }
  assert.equal(cursor, null)
  return records
}

async function ended(id: string): Promise<Body> {
  for (let step = 0; step < 5_000; step++) {
    const { body } = await world.operate('POST', `/organizations/${id}/end/continue`, {})
    if (body['state'] === 'finished') return body
  }
  throw new Error('the end did not finish')
}

/** More rows than one step removes, with a replay chain. */
async function fillUp(id: string): Promise<void> {
  await scene.recipient.post('/v1/webhook-endpoints', {
    url: 'https://127.0.0.1:1/hook',
    event_types: ['package.accepted'],
  })
  const [endpoint] = await world.sql`
    select webhook_endpoint_id as name from webhook_endpoint where organization_id = ${id}`
  const name = String(endpoint?.['name'])
  await world.sql`
    insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id, state,
      next_attempt_at, created_at, finished_at, replay_of)
    select 'dlv_' || to_char(place, 'FM0000'), ${name}, ${id}, 'pkg', 'ntf', 'evt',
      (array['failed', 'dead', 'delivered'])[1 + place % 3], now(), now(), now(),
      case when place between 2 and 1200 then 'dlv_' || to_char(place - 1, 'FM0000') end
    from generate_series(1, 1502) as place`
  await world.sql`
    insert into idempotency_record (organization_id, scope, key_hash, content_hash, status, body, recorded_at)
    select ${id}, 'test', decode(lpad(to_hex(place), 8, '0'), 'hex'), '', 200, '{}', now()
    from generate_series(1, 2500) as place`
}

test('[AUD-01] an export holds metadata, evidence and public keys of one organization, and no content', async () => {
  const { sender, recipient } = scene
  const before =
    await world.sql`select count(*)::int as count from operator_log where action = 'organization.export'`
  const records = await exported(world, recipient.organizationId)
  const types = new Set(records.map(({ type }) => type))
  for (const type of ['organization', 'client', 'agent', 'evidence', 'notification'])
    assert.ok(types.has(type), `${type} is missing`)
  const text = JSON.stringify(records)
  assert.doesNotMatch(text, /ciphertext_download_url|secret_hash|"d":/)
  const packages = await world.sql<{ package_id: string }[]>`
    select package_id from package where ${recipient.organizationId} in (sender_org_id, recipient_org_id)`
  const evidence = records.filter(({ type }) => type === 'evidence')
  assert.deepEqual(
    new Set(evidence.map(({ data }) => data['package_id'])),
    new Set(packages.map(({ package_id }) => package_id)),
  )
  const clients = records.filter(({ type }) => type === 'client')
  assert.ok(clients.every(({ data }) => data['organization_id'] === recipient.organizationId))
  assert.equal(text.includes(sender.clientId), false)
  const agents = records.filter(({ type }) => type === 'agent')
  assert.ok(agents.every(({ data }) => (data['key_events'] as unknown[]).length >= 2))
  const logged = await world.sql`
    select reason from operator_log where action = 'organization.export' order by entry desc limit 1`
  assert.deepEqual([{ ...logged[0] }, before[0]?.['count']], [{ reason: 'asked for it' }, 0])
})

test('an export cannot be read without being logged, nor with the cursor of another organization', async () => {
  const { sender, recipient } = scene
  const path = (id: string) => `/organizations/${id}/export`
  assert.equal((await world.operate('GET', path(sender.organizationId))).status, 422)
  const { body } = await world.operate('POST', path(sender.organizationId), {})
  const foreign = await world.operate(
    'GET',
    `${path(recipient.organizationId)}?after=${String(body['next_cursor'])}`,
  )
  assert.deepEqual([foreign.status, foreign.body['code']], [400, 'cursor_invalid'])
  assert.equal((await world.operate('POST', path('org_nobody'), {})).status, 404)
  assert.equal((await world.operate('POST', path('org_platform'), {})).status, 403)
})

test('the plan of an end says what is removed and what is kept, and changes nothing', async () => {
  const { recipient } = scene
  const { body } = await world.operate('GET', `/organizations/${recipient.organizationId}/end`)
  const removed = body['removed'] as { what: string; count: number; how: string }[]
  const retained = body['retained'] as { what: string; why: string }[]
  assert.equal(removed.find(({ what }) => what === 'clients')?.count, 1)
  assert.ok((removed.find(({ what }) => what === 'notifications')?.count ?? 0) > 0)
  assert.ok(retained.some(({ what, why }) => what.includes('audit chains') && why.includes('evidence')))
  assert.equal(body['status'], 'active')
  assert.equal((await recipient.get(`/v1/agents/${recipient.agentId}`)).status, 200)
})

test('[AUD-01][ID-05] an end closes access at once and for ever; evidence and keys stay for the other party', async () => {
  const { sender, recipient } = scene
  const id = recipient.organizationId
  const path = `/organizations/${id}/end`
  const { publicKey } = await generateKeyPair('signing')
  const invited = await world.operate('POST', '/invitations', { organization_id: id })
  assert.equal(invited.status, 201)
  await world.operate('POST', `/organizations/${id}/consent`, { accept: [sender.organizationId] })
  const wrong = await world.operate('POST', path, { reason: 'contract ended', confirm: 'org_other' })
  assert.deepEqual([wrong.status, wrong.body['code']], [422, 'validation_failed'])
  assert.equal((await world.operate('POST', path, { confirm: id })).status, 422)
  assert.equal(
    (await world.operate('POST', '/organizations/org_platform/end', { reason: 'x', confirm: 'org_platform' }))
      .status,
    403,
  )
  const evidence = async () => {
    const [row] = await world.sql`
      select (select count(*)::int from package) as packages, (select count(*)::int from audit_record) as records`
    return { ...row }
  }
  await fillUp(id)
  const before = await evidence()

  const begun = await world.operate('POST', path, { reason: 'contract ended', confirm: id })
  assert.deepEqual([begun.status, begun.body['state']], [200, 'removing'])
  assertProblem(await recipient.get(`/v1/agents/${recipient.agentId}`), 'caller_suspended')
  const report = await ended(id)
  const removed = report['removed'] as Record<string, number>
  assert.equal(removed['clients'], 1)
  assert.ok((removed['idempotency_records'] ?? 0) >= 2_500)
  assert.ok((removed['deliveries'] ?? 0) >= 1_502)

  // Everything of the plan is gone.
  for (const statement of [
    world.sql`select from oauth_client where organization_id = ${id}`,
    world.sql`select from invitation where organization_id = ${id}`,
    world.sql`select from sender_rule where organization_id = ${id}`,
    world.sql`select from notification where organization_id = ${id}`,
    world.sql`select from idempotency_record where organization_id = ${id}`,
    world.sql`select from webhook_endpoint where organization_id = ${id} and (url <> '' or status <> 'deleted')`,
    world.sql`select from delivery where organization_id = ${id}`,
    world.sql`select from agent where organization_id = ${id} and status <> 'retired'`,
    world.sql`select from organization where organization_id = ${id} and contact is not null`,
  ])
    assert.equal((await statement).length, 0)
  // Evidence is not.
  assert.deepEqual(await evidence(), before)
  const agent = await sender.get(`/v1/agents/${recipient.agentId}`)
  assert.deepEqual([agent.status, agent.body['status']], [200, 'retired'])
  assert.ok((agent.body['keys'] as unknown[]).length >= 2)
  const kept = await sender.get(`/v1/audit/packages/${scene.standing.metadata.package_id}`)
  assert.equal(kept.status, 200)
  assert.ok((kept.body['entries'] as unknown[]).length >= 2)
  assert.ok((kept.body['key_history'] as unknown[]).length > 0)

  // Nobody and nothing brings it back.
  for (const verb of ['activate', 'suspend'])
    assert.deepEqual(
      (await world.operate('POST', `/organizations/${id}/${verb}`, { reason: 'again' })).body['details'],
      { state: 'ended' },
    )
  assert.equal((await world.operate('POST', path, { reason: 'again', confirm: id })).status, 409)
  for (const [target, body] of [
    ['/clients', { organization_id: id, public_jwk: publicKey.jwk }],
    ['/invitations', { organization_id: id }],
    [
      '/connectors',
      { organization_id: id, connector_id: 'c', participant_id: 'p', endpoint: 'https://c.example' },
    ],
  ] as const)
    assert.equal((await world.operate('POST', target, body)).body['code'], 'invalid_state_transition')
  assert.equal(
    (await world.operate('POST', '/organizations', { organization_id: id, name: 'again' })).status,
    409,
  )
  await assert.rejects(
    world.sql`update organization set status = 'active' where organization_id = ${id}`,
    /stays ended/,
  )
  const log =
    await world.sql`select action from operator_log where target = ${id} order by entry desc limit 2`
  assert.deepEqual(
    log.map(({ action }) => String(action)),
    ['organization.end-finished', 'organization.end'],
  )
})

test('[O-20] only an administrator ends an organization, and a viewer exports nothing', async () => {
  await world.operate('POST', '/organizations', { organization_id: 'org_roles', name: 'roles' })
  const as = async (role: string) => {
    const { body } = await world.operate('POST', '/operators', { name: `end-${role}`, role })
    return async (method: string, path: string, json?: object) => {
      const response = await fetch(`${world.operatorUrl}/operator/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${String(body['token'])}`, 'content-type': 'application/json' },
        ...(json && { body: JSON.stringify(json) }),
      })
      return response.status
    }
  }
  const [viewer, operator] = [await as('viewer'), await as('operator')]
  assert.equal(await viewer('GET', '/organizations/org_roles/end'), 200)
  assert.equal(await viewer('POST', '/organizations/org_roles/export', {}), 403)
  assert.equal(await viewer('POST', '/invitations', { organization_id: 'org_roles' }), 403)
  assert.equal(
    await operator('POST', '/organizations/org_roles/end', { reason: 'x', confirm: 'org_roles' }),
    403,
  )
  assert.equal(await operator('POST', '/invitations', { organization_id: 'org_roles' }), 201)
})
