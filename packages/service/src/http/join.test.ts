import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { formatInvitation, generateKeyPair, parseInvitation, type KeyPair } from '@agent-exchange/crypto'
import { requestToken, startWorld, type World } from '@agent-exchange/testkit'

const JOIN_BYTES = 4_096
// One world without a limit that these tests reach; the limits have worlds of their own.
const world = await startWorld({
  config: { role: 'api' },
  profile: {
    'O-13': { joins_per_minute: 100_000, joins_per_minute_per_address: 100_000 },
    'O-14': { join_bytes: JOIN_BYTES },
  },
})
after(() => world[Symbol.asyncDispose]())

const newKey = () => generateKeyPair('signing')
let made = 0

async function organization(at: World = world): Promise<string> {
  const id = `org_join_${(made += 1)}`
  assert.equal((await at.operate('POST', '/organizations', { organization_id: id, name: id })).status, 201)
  return id
}

async function invite(organizationId: string, more: object = {}, at: World = world) {
  const answer = await at.operate('POST', '/invitations', { organization_id: organizationId, ...more })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  const invitation = parseInvitation(String(answer.body['invitation']))
  assert.ok(invitation)
  return { ...invitation, id: String(answer.body['invitation_id']), answer: answer.body }
}

async function join(secret: unknown, agentId: string, key: KeyPair, at: World = world) {
  return post({ invitation_secret: secret, agent_id: agentId, public_jwk: key.publicKey.jwk }, at)
}

async function post(body: unknown, at: World = world) {
  const response = await fetch(`${at.url}/join`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const answer = (await response.json()) as Record<string, unknown>
  return { status: response.status, headers: response.headers, body: answer, code: answer['code'] }
}

const shown = async (id: string) => (await world.operate('GET', `/invitations/${id}`)).body

test('[AUTH-02] an invitation registers one client of one agent, which then gets tokens', async () => {
  const organizationId = await organization()
  const invitation = await invite(organizationId, { agent_id: 'agent_join_a' })
  assert.deepEqual(
    [invitation.baseUrl, invitation.organizationId, invitation.agentId],
    [world.url, organizationId, 'agent_join_a'],
  )
  const key = await newKey()
  const joined = await join(invitation.secret, 'agent_join_a', key)
  assert.equal(joined.status, 200, JSON.stringify(joined.body))
  assert.equal(joined.headers.get('cache-control'), 'no-store')
  assert.deepEqual(
    [joined.body['organization_id'], joined.body['agent_id']],
    [organizationId, 'agent_join_a'],
  )
  const clientId = String(joined.body['client_id'])
  const token = await requestToken({
    baseUrl: world.url,
    clientId,
    credential: { method: 'private_key_jwt', key: key.privateJwk },
  })
  const claims = JSON.parse(
    Buffer.from(token.access_token.split('.')[1] ?? '', 'base64url').toString(),
  ) as Record<string, unknown>
  assert.deepEqual([claims['organization_id'], claims['agent_id']], [organizationId, 'agent_join_a'])

  // The operator sees who used it and when, and never the secret.
  const row = await shown(invitation.id)
  assert.deepEqual(
    [row['state'], row['client_id'], row['used_agent_id'], typeof row['used_at']],
    ['used', clientId, 'agent_join_a', 'string'],
  )
  assert.equal(JSON.stringify([row, world.logged]).includes(invitation.secret), false)
  const [entry] = await world.sql`select actor, action from operator_log where target = ${clientId}`
  assert.deepEqual({ ...entry }, { actor: `invitation ${invitation.id}`, action: 'client.join' })
  const stored = await world.sql`select row_to_json(invitation)::text as text from invitation`
  const hex = Buffer.from(invitation.secret, 'base64url').toString('hex')
  assert.equal(
    stored.some(({ text }) => String(text).includes(invitation.secret) || String(text).includes(hex)),
    false,
  )
})

test('with an external issuer, neither an invitation nor a client is created, and the answer says what to do', async () => {
  const issuer = 'https://login.example/realms/exchange'
  await using outside = await startWorld({ config: { issuer } })
  const organizationId = await organization(outside)
  const { publicKey } = await newKey()
  const requests = [
    ['/invitations', { organization_id: organizationId }],
    ['/clients', { organization_id: organizationId, public_jwk: publicKey.jwk }],
  ] as const
  for (const [path, body] of requests) {
    const answer = await outside.operate('POST', path, body)
    assert.equal(answer.status, 409)
    const { hint } = answer.body['details'] as { hint: string }
    assert.match(hint, /login\.example\/realms\/exchange.*Register the client there.*identity-providers\.md/u)
  }
  const [count] = await outside.sql`
    select (select count(*) from invitation) + (select count(*) from oauth_client) as rows`
  assert.equal(Number(count?.['rows']), 0)
  assert.equal((await post({}, outside)).status, 404)
})

test('[AUTH-02] the same key may repeat its request; another key, or another agent, is refused', async () => {
  const invitation = await invite(await organization())
  const key = await newKey()
  const first = await join(invitation.secret, 'agent_join_b', key)
  const again = await join(invitation.secret, 'agent_join_b', key)
  assert.deepEqual(again.body, first.body)
  world.clock.advance(2 * 86_400)
  assert.deepEqual((await join(invitation.secret, 'agent_join_b', key)).body, first.body)
  for (const other of [
    await join(invitation.secret, 'agent_join_b', await newKey()),
    await join(invitation.secret, 'agent_join_c', key),
  ])
    assert.deepEqual([other.status, other.code], [403, 'invitation_refused'])
  const clients = await world.operate('GET', `/clients?organization_id=${invitation.organizationId}`)
  assert.equal((clients.body['items'] as unknown[]).length, 1)
})

test('[AUTH-02] of many keys at once, one wins', async () => {
  const invitation = await invite(await organization())
  const keys = await Promise.all(Array.from({ length: 8 }, newKey))
  // Each key sends its request twice.
  const answers = await Promise.all(
    [...keys, ...keys].map((key, index) => join(invitation.secret, `agent_race_${index % 8}`, key)),
  )
  const won = answers.filter(({ status }) => status === 200)
  assert.equal(won.length, 2)
  assert.equal(won[0]?.body['client_id'], won[1]?.body['client_id'])
  assert.ok(answers.every(({ status, code }) => status === 200 || code === 'invitation_refused'))
  const clients = await world.sql`
    select from oauth_client where organization_id = ${invitation.organizationId}`
  assert.equal(clients.length, 1)
})

test('[AUTH-02] unknown, malformed, expired, revoked and suspended invitations are refused alike and change nothing', async () => {
  const key = await newKey()
  const expired = await invite(await organization(), { expires_in_seconds: 60 })
  world.clock.advance(61)
  const revoked = await invite(await organization())
  const revocation = await world.operate('POST', `/invitations/${revoked.id}/revoke`, { reason: 'typo' })
  assert.equal(revocation.body['state'], 'revoked')
  const suspended = await invite(await organization())
  await world.operate('POST', `/organizations/${suspended.organizationId}/suspend`, { reason: 'unpaid' })
  const named = await invite(await organization(), { agent_id: 'agent_join_named' })
  const bodies: string[] = []
  for (const secret of [
    randomBytes(32).toString('base64url'),
    'guess',
    '',
    undefined,
    { toString: 1 },
    `${expired.secret.slice(0, -1)}${expired.secret.endsWith('A') ? 'E' : 'A'}`,
    expired.secret,
    revoked.secret,
    suspended.secret,
    named.secret,
  ]) {
    const { status, body } = await join(secret, 'agent_join_x', key)
    assert.equal(status, 403)
    bodies.push(JSON.stringify({ ...body, correlation_id: '' }))
  }
  assert.equal(new Set(bodies).size, 1)
  assert.equal((await world.sql`select from oauth_client where agent_id = 'agent_join_x'`).length, 0)
  // An organization that is active again makes its invitation usable again.
  await world.operate('POST', `/organizations/${suspended.organizationId}/activate`, {})
  assert.equal((await join(suspended.secret, 'agent_join_y', key)).status, 200)
})

test('[AUTH-02] an invitation for any agent does not admit a colleague’s agent, registered or joined', async () => {
  const acme = await world.organization('acme')
  const taken = await invite(acme.organizationId)
  const registered = await join(taken.secret, acme.agentId, await newKey())
  assert.deepEqual([registered.status, registered.code], [409, 'identifier_conflict'])
  const first = await invite(acme.organizationId)
  assert.equal((await join(first.secret, 'agent_join_new', await newKey())).status, 200)
  const second = await join(taken.secret, 'agent_join_new', await newKey())
  assert.deepEqual([second.status, second.code], [409, 'identifier_conflict'])
  // The operator names the agent to let it in again, for example after its key was lost.
  const again = await invite(acme.organizationId, { agent_id: acme.agentId })
  assert.equal((await join(again.secret, acme.agentId, await newKey())).status, 200)
  const foreign = await world.operate('POST', '/invitations', {
    organization_id: await organization(),
    agent_id: acme.agentId,
  })
  assert.deepEqual([foreign.status, foreign.body['code']], [409, 'identifier_conflict'])
})

test('[AUTH-04] private keys, wrong keys, malformed and oversize bodies are refused and leave the invitation open', async () => {
  const invitation = await invite(await organization())
  const key = await newKey()
  const body = { invitation_secret: invitation.secret, agent_id: 'agent_join_z' }
  assert.equal((await post({ ...body, public_jwk: key.privateJwk })).code, 'private_key_refused')
  assert.equal((await post({ ...body, public_jwk: { kty: 'EC' } })).code, 'public_key_invalid')
  assert.equal((await post({ ...body, public_jwk: [] })).code, 'validation_failed')
  assert.equal((await post({ ...body, agent_id: 'planner', public_jwk: {} })).code, 'validation_failed')
  assert.equal((await post('[]')).code, 'validation_failed')
  assert.equal((await post('{"a":1,"a":2}')).code, 'malformed_request')
  const large = await post({ ...body, padding: 'x'.repeat(JOIN_BYTES) })
  assert.deepEqual([large.status, large.body['details']], [413, { maximum_bytes: JOIN_BYTES }])
  assert.equal((await fetch(`${world.url}/join`)).status, 404)
  assert.equal((await shown(invitation.id))['state'], 'open')
  assert.equal((await join(invitation.secret, 'agent_join_z', key)).status, 200)
})

test('[O-13] a flood of guesses is limited by address and in total, and ends', async () => {
  await using small = await startWorld({
    config: { role: 'api' },
    profile: { 'O-13': { joins_per_minute: 10, joins_per_minute_per_address: 5 } },
  })
  const key = await newKey()
  const guess = () => join(randomBytes(32).toString('base64url'), 'agent_guess', key, small)
  const codes: unknown[] = []
  for (let count = 0; count < 7; count++) codes.push((await guess()).code)
  assert.deepEqual(codes, [
    ...Array.from({ length: 5 }, () => 'invitation_refused'),
    'rate_limited',
    'rate_limited',
  ])
  const limited = await guess()
  const wait = Number(limited.headers.get('retry-after'))
  assert.equal(limited.status, 429)
  assert.ok(wait >= 1 && wait <= 12)
  small.clock.advance(12)
  assert.equal((await guess()).code, 'invitation_refused')
})

test('[O-13] behind a proxy only the total limit applies', async () => {
  await using small = await startWorld({
    config: { role: 'api', trustedProxies: ['127.0.0.1'] },
    profile: { 'O-13': { joins_per_minute: 4, joins_per_minute_per_address: 1 } },
  })
  const key = await newKey()
  const codes: unknown[] = []
  for (let count = 0; count < 5; count++)
    codes.push((await join(randomBytes(32).toString('base64url'), 'agent_guess', key, small)).code)
  assert.deepEqual(codes, [...Array.from({ length: 4 }, () => 'invitation_refused'), 'rate_limited'])
})

test('[O-20] operators create, list and revoke invitations within limits', async () => {
  const organizationId = await organization()
  const create = (body: object) => world.operate('POST', '/invitations', body)
  const refused: [object, number][] = [
    [{ organization_id: 'org_nobody' }, 404],
    [{ organization_id: 'org_platform' }, 403],
    [{ organization_id: organizationId, expires_in_seconds: 59 }, 422],
    [{ organization_id: organizationId, expires_in_seconds: 30 * 86_400 + 1 }, 422],
    [{ organization_id: organizationId, agent_id: 'planner' }, 422],
    [{ organization_id: organizationId, secret: 'mine' }, 422],
  ]
  for (const [body, status] of refused) assert.equal((await create(body)).status, status)
  const [older, newer] = [await invite(organizationId), await invite(organizationId, { agent_id: 'agent_n' })]
  const list = await world.operate('GET', `/invitations?organization_id=${organizationId}`)
  const items = list.body['items'] as Record<string, unknown>[]
  assert.deepEqual(new Set(items.map((item) => item['invitation_id'])), new Set([older.id, newer.id]))
  assert.ok(items.every((item) => !('invitation' in item) && !('secret_hash' in item)))
  assert.equal((await world.operate('POST', `/invitations/${older.id}/revoke`, {})).status, 422)
  const revoke = () => world.operate('POST', `/invitations/${older.id}/revoke`, { reason: 'sent to nobody' })
  assert.equal((await revoke()).status, 200)
  assert.equal((await revoke()).body['code'], 'invalid_state_transition')
  const key = await newKey()
  await join(newer.secret, 'agent_n', key)
  const used = await world.operate('POST', `/invitations/${newer.id}/revoke`, { reason: 'late' })
  assert.deepEqual(used.body['details'], { state: 'used' })
  assert.equal((await world.operate('GET', '/invitations/invitation_0')).status, 404)
  assert.equal(formatInvitation(newer), newer.answer['invitation'])
})
