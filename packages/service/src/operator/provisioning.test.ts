import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { generateKeyPair, verifySkillRelease } from '@agent-exchange/crypto'
import { draftSkillManifest, openTestDatabase, selfSignedCertificate } from '@agent-exchange/testkit'
import { startOperatorPlane, type Answer } from './operator.fixture.ts'

const database = await openTestDatabase()
const { db } = database
const rotated = {
  key_id: 'webhook-2',
  use: 'signing' as const,
  format: 'jwk' as const,
  public_key: { kty: 'EC' as const, crv: 'P-256', x: 'x', y: 'y' },
  valid_from: '2026-03-02T09:00:00.000Z',
  status: 'active',
  registered_at: '2026-03-02T08:00:00.000Z',
  held_in: 'database',
}
const plane = await startOperatorPlane(db, {
  webhookKeys: {
    directory: (_db, now) => Promise.resolve({ directory_version: '1', generated_at: now, keys: [rotated] }),
    rotate: () => Promise.resolve(rotated),
    list: () => Promise.resolve([rotated]),
    revoke: () => Promise.resolve(undefined),
    currentKeyId: () => Promise.resolve(rotated.key_id),
  },
})
after(async () => {
  await plane[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const { publicKey, privateJwk } = await generateKeyPair('signing')
const jwk = { ...publicKey.jwk }
const LONG = 'a'.repeat(128)
const codeOf = ({ status, body }: Answer) => [status, body['code']]
const newest = async () => (await plane.get('/log?limit=1')).body.items?.[0]

test('[OBJ-01] organizations are created once, listed in pages, suspended and activated, with 128-character tails', async () => {
  const id = `org_${LONG}`
  const created = await plane.post('/organizations', {
    organization_id: id,
    name: 'Länge',
    contact: 'ops@acme.example',
  })
  assert.equal(created.status, 201)
  assert.deepEqual([created.body['organization_id'], created.body['status']], [id, 'active'])
  assert.deepEqual(codeOf(await plane.post('/organizations', { organization_id: id, name: 'x' })), [
    409,
    'identifier_conflict',
  ])

  const race = await Promise.all(
    Array.from({ length: 10 }, () =>
      plane.post('/organizations', { organization_id: 'org_race', name: 'x' }),
    ),
  )
  assert.deepEqual(
    race.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, ...Array.from({ length: 9 }, () => 409)],
  )
  assert.equal((await db`select 1 from operator_log where target = 'org_race'`).length, 1)

  const first = await plane.get('/organizations?limit=1')
  assert.equal(first.body.items?.[0]?.['organization_id'], id)
  const cursor = String(first.body['next_cursor'])
  const second = await plane.get(`/organizations?limit=1&after=${cursor}`)
  assert.deepEqual(
    second.body.items?.map((row) => row['organization_id']),
    ['org_race'],
  )
  assert.deepEqual([second.body['has_more'], second.body['next_cursor']], [false, null])
  assert.deepEqual(codeOf(await plane.get(`/clients?after=${cursor}`)), [400, 'cursor_invalid'])

  const path = `/organizations/${encodeURIComponent(id)}`
  assert.deepEqual(codeOf(await plane.post(`${path}/suspend`, {})), [422, 'validation_failed'])
  assert.equal((await plane.post(`${path}/suspend`, { reason: 'unpaid' })).body['status'], 'suspended')
  assert.deepEqual(codeOf(await plane.post(`${path}/suspend`, { reason: 'unpaid' })), [
    409,
    'invalid_state_transition',
  ])
  assert.equal((await plane.post(`${path}/activate`, {})).body['status'], 'active')
  const contact = await plane.post(`${path}/contact`, { contact: 'duty@long.example' })
  assert.equal(contact.body['contact'], 'duty@long.example')
  for (const wrong of ['nobody', 'a@b c', 'a@b\n', `${'a'.repeat(320)}@b`])
    assert.deepEqual(codeOf(await plane.post(`${path}/contact`, { contact: wrong })), [
      422,
      'validation_failed',
    ])
  assert.deepEqual(codeOf(await plane.post('/organizations/org_none/contact', {})), [
    404,
    'resource_not_found',
  ])
  assert.equal((await plane.post(`${path}/contact`, {})).body['contact'], null)
  const log = (await plane.get(`/log?target=${id}`)).body.items ?? []
  assert.deepEqual(
    log.map((entry) => [entry['actor'], entry['action'], entry['reason']]),
    [
      ['admin', 'organization.contact', null],
      ['admin', 'organization.contact', null],
      ['admin', 'organization.activate', null],
      ['admin', 'organization.suspend', 'unpaid'],
      ['admin', 'organization.create', null],
    ],
  )
})

test('[AUTH-02] a client has exactly one credential, which can be rotated until it is disabled', async () => {
  const created = await plane.post('/clients', {
    organization_id: 'org_race',
    agent_id: `agent_${LONG}`,
    public_jwk: { ...jwk, kid: 'k1', alg: 'ES256' },
  })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  const id = String(created.body['client_id'])
  assert.deepEqual(created.body['public_jwk'], { ...jwk, kid: 'k1' })
  assert.equal(created.body['authentication'], 'private_key_jwt')
  const path = `/clients/${id}`
  const byName = await plane.post(`${path}/rotate`, { tls_san_dns: 'Agent.Acme.example' })
  assert.deepEqual(
    [byName.body['authentication'], byName.body['tls_san_dns'], byName.body['public_jwk']],
    ['tls_client_auth', 'agent.acme.example', undefined],
  )
  const { certificate } = await selfSignedCertificate()
  const byCertificate = await plane.post(`${path}/rotate`, { certificate, reason: 'moved to mutual TLS' })
  assert.equal(byCertificate.body['authentication'], 'self_signed_tls_client_auth')
  assert.equal(byCertificate.body['tls_san_dns'], undefined)
  assert.match(String(byCertificate.body['certificate']), /^-----BEGIN CERTIFICATE-----\n/)
  const listed = (await plane.get('/clients?organization_id=org_race')).body.items ?? []
  assert.deepEqual(
    listed.map((client) => client['client_id']),
    [id],
  )
  assert.deepEqual((await plane.get('/clients?organization_id=org_none')).body.items, [])
  assert.equal((await plane.post(`${path}/disable`, { reason: 'laptop lost' })).body['status'], 'disabled')
  assert.deepEqual(codeOf(await plane.post(`${path}/disable`, { reason: 'again' })), [
    409,
    'invalid_state_transition',
  ])
  assert.deepEqual(codeOf(await plane.post(`${path}/rotate`, { public_jwk: jwk })), [
    409,
    'invalid_state_transition',
  ])
  assert.deepEqual(codeOf(await plane.post('/clients/client_none/disable', { reason: 'x' })), [
    404,
    'resource_not_found',
  ])
})

test('[AUTH-04] private keys are refused in every format and stored nowhere', async () => {
  const pem = '-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n'
  for (const credential of [{ public_jwk: privateJwk }, { certificate: pem }]) {
    const answer = await plane.post('/clients', { organization_id: 'org_race', ...credential })
    assert.deepEqual(codeOf(answer), [422, 'private_key_refused'])
    assert.ok(!JSON.stringify(answer.body).includes(privateJwk.d))
  }
  const dump = JSON.stringify([
    await db`select * from oauth_client`,
    await db`select * from operator_log`,
    plane.logged,
  ])
  assert.ok(!dump.includes(privateJwk.d) && !dump.includes('PRIVATE'))
})

test('[AUTH-02] invalid credentials, and clients of an unknown organization or of the platform, are refused', async () => {
  await db`insert into organization (organization_id, name, created_at) values ('org_platform', 'p', now()), ('org_b', 'b', now())`
  await db`insert into agent values ('agent_b', 'org_b', 'i', '1', '{}', '{}', '{}', 'active', 'none', now(), now())`
  const cases: [object, number, string][] = [
    [{}, 422, 'validation_failed'],
    [{ public_jwk: jwk, tls_san_dns: 'a.example' }, 422, 'validation_failed'],
    [{ public_jwk: { ...jwk, y: jwk.x } }, 422, 'public_key_invalid'],
    [
      { certificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
      422,
      'validation_failed',
    ],
    [{ certificate: 'hello' }, 422, 'validation_failed'],
    [{ tls_san_dns: '*.acme.example' }, 422, 'validation_failed'],
    [{ tls_san_dns: 'acme.example\u0000' }, 422, 'validation_failed'],
    [{ public_jwk: jwk, agent_id: 'agent_b' }, 409, 'identifier_conflict'],
    [{ public_jwk: jwk, organization_id: 'org_none' }, 404, 'resource_not_found'],
    [{ public_jwk: jwk, organization_id: 'org_platform' }, 403, 'not_permitted'],
  ]
  const [before] = await db`select count(*) as n from oauth_client`
  for (const [body, status, code] of cases) {
    const answer = await plane.post('/clients', { organization_id: 'org_race', ...body })
    assert.deepEqual(codeOf(answer), [status, code], JSON.stringify(body))
  }
  assert.deepEqual(await db`select count(*) as n from oauth_client`.then(([row]) => row), before)
})

test('[PKG-05] connectors are approved, suspended and revoked; approving a revoked one again needs a reason', async () => {
  const body = {
    organization_id: 'org_race',
    connector_id: 'urn:connector/ä b',
    participant_id: 'BPNL1',
    endpoint: 'https://edc.acme.example/dsp',
  }
  const path = `/organizations/org_race/connectors/${encodeURIComponent(body.connector_id)}`
  const created = await plane.post('/connectors', body)
  assert.deepEqual([created.status, created.body['status']], [201, 'approved'])
  assert.equal((await plane.post(`${path}/suspend`, { reason: 'audit' })).body['status'], 'suspended')
  const again = await plane.post('/connectors', { ...body, endpoint: 'https://edc2.acme.example' })
  assert.deepEqual([again.body['status'], again.body['endpoint']], ['approved', 'https://edc2.acme.example'])
  assert.equal((await plane.post(`${path}/revoke`, { reason: 'compromised' })).body['status'], 'revoked')
  assert.deepEqual(codeOf(await plane.post(`${path}/suspend`, { reason: 'x' })), [
    409,
    'invalid_state_transition',
  ])
  assert.deepEqual(codeOf(await plane.post('/connectors', body)), [422, 'validation_failed'])
  assert.equal(
    (await plane.post('/connectors', { ...body, reason: 'new machine' })).body['status'],
    'approved',
  )
  assert.equal((await newest())?.['reason'], 'new machine')
  for (const endpoint of [
    'https://user:secret@edc.example',
    'ftp://edc.example',
    'edc.example',
    'https://',
  ]) {
    assert.deepEqual(
      codeOf(await plane.post('/connectors', { ...body, endpoint })),
      [422, 'validation_failed'],
      endpoint,
    )
  }
  await plane.post('/connectors', { ...body, organization_id: 'org_b', connector_id: 'z' })
  const page = await plane.get('/connectors?limit=1')
  const rest = await plane.get(`/connectors?limit=1&after=${String(page.body['next_cursor'])}`)
  const ids = [page, rest].flatMap((each) => each.body.items ?? []).map((row) => row['organization_id'])
  assert.deepEqual(ids, ['org_b', 'org_race'])
  assert.deepEqual(
    codeOf(await plane.post('/organizations/org_race/connectors/none/revoke', { reason: 'x' })),
    [404, 'resource_not_found'],
  )
})

test('[ID-10] a skill is published once, signed by the platform, with its artifact', async () => {
  const manifest = draftSkillManifest()
  const artifact = Buffer.alloc(3_000_000, 7).toString('base64')
  const published = await plane.post('/skills', { manifest, artifact })
  assert.equal(published.status, 201, JSON.stringify(published.body))
  await verifySkillRelease(published.body, plane.publicKey)
  assert.deepEqual(codeOf(await plane.post('/skills', { manifest, artifact })), [409, 'identifier_conflict'])
  const next = { ...manifest, version: '1.0.1' }
  for (const bad of ['', '?', 'AAA', 'AAAA\n']) {
    assert.deepEqual(codeOf(await plane.post('/skills', { manifest: next, artifact: bad })), [
      422,
      'validation_failed',
    ])
  }
  const extra = { ...next, manifest_signature: {} }
  assert.deepEqual(codeOf(await plane.post('/skills', { manifest: extra, artifact })), [
    422,
    'validation_failed',
  ])
  const large = Buffer.alloc(16 * 1_024 * 1_024 + 1).toString('base64')
  assert.deepEqual(codeOf(await plane.post('/skills', { manifest: next, artifact: large })), [
    413,
    'payload_too_large',
  ])
  assert.equal((await db`select 1 from skill_release`).length, 1)
})

test('agents are listed and change status, except the platform itself', async () => {
  const listed = (await plane.get('/agents?organization_id=org_b')).body.items ?? []
  assert.deepEqual(
    listed.map((agent) => agent['agent_id']),
    ['agent_b'],
  )
  const moved = await plane.post('/agents/agent_b/status', { status: 'suspended', reason: 'incident 7' })
  assert.equal(moved.body['status'], 'suspended')
  const certified = await plane.post('/agents/agent_b/certification', { status: 'certified' })
  assert.deepEqual(
    [certified.body['status'], certified.body['certification_status']],
    ['suspended', 'certified'],
  )
  assert.deepEqual((await newest())?.['details'], { status: 'certified' })
  assert.deepEqual(codeOf(await plane.post('/agents/agent_b/status', { status: 'suspended' })), [
    422,
    'validation_failed',
  ])
  const misspelled = await plane.post('/agents/agent_b/status', { status: 'actve', reason: 'typing error' })
  assert.deepEqual(codeOf(misspelled), [422, 'validation_failed'])
  assert.match(JSON.stringify(misspelled.body['details']), /Use one of active, suspended, paused/u)
  const unknown = await plane.post('/agents/agent_b/certification', { status: 'gold' })
  assert.match(JSON.stringify(unknown.body['details']), /Use one of uncertified, pending, certified/u)
  const retired = { status: 'retired', reason: 'x' }
  assert.deepEqual(codeOf(await plane.post('/agents/agent_none/status', retired)), [
    404,
    'resource_not_found',
  ])
  assert.deepEqual(codeOf(await plane.post('/agents/agent_platform/status', retired)), [403, 'not_permitted'])
})

test('[EVT-13] webhook keys are listed and rotated, with an entry in the log', async () => {
  assert.deepEqual((await plane.get('/keys')).body['keys'], [{ ...rotated, endpoints: 0 }])
  assert.deepEqual((await plane.post('/keys/rotate', { reason: 'yearly' })).body, rotated)
  const entry = await newest()
  assert.deepEqual(
    [entry?.['action'], entry?.['target'], entry?.['reason']],
    ['keys.rotate', 'webhook-2', 'yearly'],
  )
})

test('endpoints show why they were disabled; deliveries show their state and every attempt', async () => {
  await db`
    insert into platform_key (key_id, purpose, public_jwk, private_key_encrypted, valid_from, valid_until, status, created_at)
    values ('wk', 'webhook', '{}', '', now(), now(), 'active', now())`
  await db`
    insert into webhook_endpoint values ('wh_1', 'org_b', 'https://b.example/hook', '{}', 'wk', 'disabled', '410', now(), now())`
  for (let index = 0; index < 5; index++) {
    const state = index % 2 === 0 ? 'dead' : 'pending'
    await db`
      insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id,
        state, next_attempt_at, created_at)
      values (${`dlv_${index}`}, 'wh_1', 'org_b', 'pkg_1', ${`ntf_${index}`}, ${`evt_${index}`}, ${state}, now(),
        ${`2026-03-0${index + 1}T00:00:00Z`})`
  }
  await db`insert into delivery_attempt values ('dlv_0', 1, now(), 'retry', '{"status":500}'),
    ('dlv_1', 1, now(), 'retry', '{"status":503}'), ('dlv_1', 2, now(), 'retry', '{"error_class":"dns"}')`
  await db`update delivery set attempt = 1 where delivery_id = 'dlv_0'`
  // Its third attempt is under way.
  await db`update delivery set attempt = 3, claim_id = 1 where delivery_id = 'dlv_1'`
  await db`
    insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id,
      state, next_attempt_at, created_at, replay_of, replay_actor, replay_reason)
    values ('dlv_r', 'wh_1', 'org_b', 'pkg_1', 'ntf_0', 'evt_0', 'pending', now(), '2026-02-01T00:00:00Z', 'dlv_0', 'admin', 'fixed')`

  const [endpoint] = (await plane.get('/endpoints')).body.items ?? []
  assert.deepEqual(
    [endpoint?.['webhook_endpoint_id'], endpoint?.['status'], endpoint?.['status_reason']],
    ['wh_1', 'disabled', '410'],
  )
  assert.equal((await plane.post('/endpoints/wh_1/enable', {})).body['status'], 'active')
  assert.deepEqual(codeOf(await plane.post('/endpoints/wh_1/enable', {})), [409, 'invalid_state_transition'])
  const disabled = await plane.post('/endpoints/wh_1/disable', { reason: 'too slow' })
  assert.equal(disabled.body['status_reason'], 'operator: too slow')
  assert.equal((await plane.post('/endpoints/wh_1/delete', {})).body['status'], 'deleted')
  assert.deepEqual(codeOf(await plane.post('/endpoints/wh_1/enable', {})), [409, 'invalid_state_transition'])

  const ids: unknown[] = []
  for (let path = '/deliveries?state=dead&organization_id=org_b&limit=2', next = ''; ;) {
    const page = await plane.get(path + next)
    ids.push(...(page.body.items ?? []).map((row) => row['delivery_id']))
    const cursor = page.body['next_cursor']
    if (typeof cursor !== 'string') break
    next = `&after=${cursor}`
  }
  assert.deepEqual(ids, ['dlv_4', 'dlv_2', 'dlv_0'])
  assert.deepEqual(
    (await plane.get('/deliveries')).body.items?.map((row) => [row['delivery_id'], row['last_error']]),
    [
      ['dlv_r', undefined],
      ['dlv_4', undefined],
      ['dlv_3', undefined],
      ['dlv_2', undefined],
      ['dlv_1', 'dns'],
      ['dlv_0', 'status 500'],
    ],
  )
  assert.deepEqual(codeOf(await plane.get('/deliveries?state=lost')), [422, 'validation_failed'])
  const shown = (await plane.get('/deliveries/dlv_0')).body
  assert.deepEqual(
    (shown['attempts'] as object[]).map((attempt) => Reflect.get(attempt, 'details')),
    [{ status: 500 }],
  )
  const [replay] = shown['replays'] as Record<string, unknown>[]
  assert.deepEqual(
    [replay?.['delivery_id'], replay?.['replay_actor'], replay?.['replay_reason']],
    ['dlv_r', 'admin', 'fixed'],
  )
  assert.equal((await plane.get('/deliveries/dlv_r')).body['replay_of'], 'dlv_0')
  assert.deepEqual(codeOf(await plane.get('/deliveries/none')), [404, 'resource_not_found'])
})

test('[AUD-03] the operator log cannot be changed, and a refused change leaves no entry', async () => {
  const [before] = await db`select count(*) as n from operator_log`
  await plane.post('/organizations', { organization_id: 'org_race', name: 'again' })
  assert.deepEqual(await db`select count(*) as n from operator_log`.then(([row]) => row), before)
  await assert.rejects(db`update operator_log set actor = 'nobody'`, /append-only/)
  await assert.rejects(db`delete from operator_log`, /append-only/)
  await assert.rejects(db`truncate operator_log`, /append-only/)
})
