import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { PolicyEnvelope } from '@agent-exchange/protocol'
import { until } from '@agent-exchange/testkit'
import { connected, textOf, wrapped } from '../../../mcp/src/clients.fixture.ts'
import { StreamableHTTPClientTransport } from '../../../mcp/src/official-client.fixture.ts'
import { MAXIMUM_MESSAGE_BYTES } from '../../../mcp/src/mcp-limits.ts'
import { reasoning } from '../api/api.fixture.ts'
import { openedContent } from '../api/opened-content.ts'
import { recordAuthor } from '../approvals/draft-authors.ts'
import { listAccess } from '../content/access-record.ts'
import { putPolicy } from '../policies/agent-policies.ts'
import { contentFor, SKILL, startCompanies } from '../startup/two-instances.fixture.ts'
import { addSystem } from '../systems/api-keys.ts'
import { VERBS } from '../systems/verbs.ts'
import { startIdentityProvider } from './identity-provider.fixture.ts'

const AUDIENCE = 'https://gateway.company.example/mcp'
const API_AUDIENCE = 'https://gateway.company.example/api'
const PUBLIC_URL = 'https://gateway.company.example'
const companies = await startCompanies()
const now = () => new Date(companies.world.clock.now())
const provider = await startIdentityProvider(now)
const seats = await companies.addAgent('seats')
const doors = await companies.addAgent('doors')
const colleague = await companies.addAgent('colleague', { colleagueOf: 'seats' })
const gateway = await companies.startInstance({
  AEX_GATEWAY_TOKEN_ISSUER: provider.issuer,
  AEX_GATEWAY_TOKEN_AUDIENCE: API_AUDIENCE,
  AEX_GATEWAY_MCP_AUDIENCE: AUDIENCE,
  AEX_GATEWAY_PUBLIC_URL: PUBLIC_URL,
})
after(async () => {
  await gateway[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
  await companies[Symbol.asyncDispose]()
})
const { db } = gateway
const { partner } = companies
const url = `${gateway.urls.api}/mcp`
const MAY_ALL = `${VERBS.map((verb) => `aex:${verb}`).join(' ')} aex:agent:${seats}`

async function clientWith(scope: string, path = '', era: 'auto' | 'legacy' = 'auto') {
  const headers = { authorization: `Bearer ${await provider.token(AUDIENCE, scope)}` }
  const transport = new StreamableHTTPClientTransport(new URL(url + path), { requestInit: { headers } })
  return wrapped(await connected(transport, era))
}

const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })

async function post(token: string | undefined, headers: Record<string, string> = {}, body = PING, path = '') {
  const response = await fetch(url + path, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
  })
  const text = await response.text()
  return { status: response.status, text, challenge: response.headers.get('www-authenticate'), response }
}

/** The partner sends a package under a policy, and sends that policy too if it forbids or permits models. */
async function sendToSeats(policyId: string, modelUse?: PolicyEnvelope['model_use']): Promise<string> {
  const to = { organizationId: 'org_seats', agentId: seats }
  const made = partner.make.policyEnvelope({ to: to.organizationId, purpose: 'supply planning' })
  const policy = { ...made, id: policyId, policy_id: policyId, ...(modelUse && { model_use: modelUse }) }
  const terms = { policy, to, skill: SKILL } as const
  if (modelUse) await partner.send({ ...terms, object: policy })
  const object = partner.make.reasoningPackage({
    to: to.organizationId,
    policy,
    summary: `under ${policyId}`,
    facts: [{ statement: 'A coil moved.' }],
    ask: 'confirm',
  })
  const { packageId } = await partner.send({ ...terms, object })
  await until('the package waits', async () => {
    const rows = await db`select 1 as one from inbox_item where package_id = ${packageId}`
    return rows.length > 0
  })
  return packageId
}

const givePolicy = (policyId: string, isPersonRequired: boolean, agentId = seats) => {
  const hosted = gateway.agents.find(agentId)
  assert.ok(hosted)
  const made = hosted.agent.make.policyEnvelope({ to: 'org_partner', purpose: 'supply planning' })
  const human_approval = { required: isPersonRequired, approval_id: 'approval_desk' }
  return putPolicy(
    db,
    agentId,
    JSON.stringify({ ...made, id: policyId, policy_id: policyId, human_approval }),
  )
}

for (const era of ['auto', 'legacy'] as const)
  test(`a model reads what waits, with its boundaries and on record, and answers within a policy (${era})`, async () => {
    const packageId = await sendToSeats(`pol_read_${era}`)
    await givePolicy('pol_free', false)
    await givePolicy('pol_person', true)
    await using model = await clientWith(MAY_ALL, '', era)
    const { events } = await model.result<{ events: { event_id: string; package_id: string }[] }>(
      'list_inbox',
    )
    const event = events.find((each) => each.package_id === packageId)
    assert.ok(event)
    const read = await model.result<Record<string, Record<string, unknown>>>('read_package', {
      package_id: packageId,
    })
    assert.deepEqual(Object.keys(read['untrusted']?.['boundaries'] ?? {}).toSorted(), [
      'disclosure_level',
      'forwarding_allowed',
      'retention_days',
    ])
    assert.deepEqual(
      (await listAccess(db, seats, packageId)).map(({ action, actor, purpose }) => [action, actor, purpose]),
      [['read', { kind: 'model', id: 'token:assistant' }, 'read_package']],
    )
    assert.deepEqual(await model.result('finish_event', { event_id: event.event_id }), { finished: true })
    assert.deepEqual(await model.result('finish_event', { event_id: event.event_id }), { finished: false })

    const draft = (policy_id: string) =>
      model.result<{ draft_id: string; package_id: string }>('draft_package', {
        to: 'agent_partner',
        object_type: 'reasoning_package',
        policy_id,
        content: reasoning(`answer ${era}`),
      })
    const free = await draft('pol_free')
    await model.result('check_draft', { draft_id: free.draft_id })
    assert.equal((await listAccess(db, seats, free.package_id))[0]?.purpose, 'check_draft')
    const sent = await model.result<{ status: string; package_id: string }>('send_draft', {
      draft_id: free.draft_id,
    })
    assert.equal(sent.status, 'sent')
    assert.match(
      JSON.stringify((await partner.open(sent.package_id)).object),
      new RegExp(`answer ${era}`, 'u'),
    )
    assert.match(textOf(await model.call('read_package', { package_id: sent.package_id })), /this agent/u)

    const { draft_id } = await draft('pol_person')
    assert.deepEqual(await model.result('send_draft', { draft_id }), {
      status: 'waiting_for_person',
      draft_id,
      desk_url: `${PUBLIC_URL}/drafts/${draft_id}`,
    })
    const { tools } = await model.client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name).filter((name) => /approve|sign|policy/u.test(name)),
      [],
    )
  })

test('a model does not send a draft whose policy was changed since', async () => {
  await givePolicy('pol_changing', false)
  await using model = await clientWith(MAY_ALL)
  const { draft_id } = await model.result<{ draft_id: string }>('draft_package', {
    to: 'agent_partner',
    object_type: 'reasoning_package',
    policy_id: 'pol_changing',
    content: reasoning('under the former policy'),
  })
  await givePolicy('pol_changing', true)
  assert.match(textOf(await model.call('send_draft', { draft_id })), /policy of this draft was changed/u)
  const [row] = await db`select sent_at from agent_draft where draft_id = ${draft_id}`
  assert.equal(row?.['sent_at'], null)
})

test('a package is not given to a model if a received policy of its sender forbids it', async () => {
  const forbidden = await sendToSeats('pol_no_model', {
    allowed_for_training: false,
    allowed_for_runtime_reasoning: false,
  })
  const allowed = await sendToSeats('pol_model', {
    allowed_for_training: false,
    allowed_for_runtime_reasoning: true,
  })
  await using model = await clientWith(MAY_ALL)
  const refusal = await model.failure('read_package', { package_id: forbidden })
  assert.match(refusal, /does not let a language model read/u)
  assert.doesNotMatch(refusal, /under pol_no_model/u)
  await assert.rejects(
    model.client.readResource({ uri: `aex://packages/${forbidden}` }),
    /does not let a language model read/u,
  )
  assert.deepEqual(await listAccess(db, seats, forbidden), [])
  const reader = { kind: 'system', id: 'erp', purpose: 'test' } as const
  const content = await gateway.contents.read(reader, seats, forbidden)
  assert.ok(content !== undefined && content !== 'gone')
  assert.deepEqual(openedContent(content).provenance.model_use, {
    allowed_for_training: false,
    allowed_for_runtime_reasoning: false,
  })
  const read = await model.result<{ untrusted: { boundaries: { model_use: object } } }>('read_package', {
    package_id: allowed,
  })
  assert.deepEqual(read.untrusted.boundaries.model_use, {
    allowed_for_training: false,
    allowed_for_runtime_reasoning: true,
  })
})

test('the scopes of a token decide which tools a model sees and may call', async () => {
  await using model = await clientWith(`aex:read aex:agent:${seats}`)
  const { tools } = await model.client.listTools()
  assert.deepEqual(tools.map(({ name }) => name).toSorted(), [
    'describe_agent',
    'follow_thread',
    'list_threads',
    'read_package',
    'verify_capsule',
  ])
  for (const name of ['send_draft', 'draft_package', 'list_inbox', 'revoke_package'])
    await assert.rejects(model.call(name, { draft_id: 'draft_x' }), /not found/u)
  await using drafter = await clientWith(`aex:draft aex:agent:${seats}`)
  const { resourceTemplates } = await drafter.client.listResourceTemplates()
  assert.deepEqual(resourceTemplates.map(({ name }) => name).toSorted(), ['policies', 'schemas'])
})

test('a token for another agent, audience or issuer, and an API key, get nothing', async () => {
  const metadata = `resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"`
  const { key } = await addSystem(db, { name: 'erp', agents: ['*'], verbs: VERBS })
  const expired = { iat: 1_000, exp: 1_300 }
  for (const [what, token] of [
    ['audience of the API', await provider.token(API_AUDIENCE, MAY_ALL)],
    ['expired', await provider.token(AUDIENCE, MAY_ALL, expired)],
    ['API key', key],
    ['nonsense', 'x.y.z'],
  ] as const) {
    const { status, challenge, text } = await post(token)
    assert.equal(status, 401, what)
    assert.equal(challenge, `Bearer error="invalid_token", ${metadata}`, what)
    assert.ok(!text.includes(token), what)
  }
  assert.equal((await post(undefined)).challenge, `Bearer ${metadata}`)
  const asSystem = await fetch(`${gateway.urls.api}/api/v1/agents/${seats}/threads`, {
    headers: { authorization: `Bearer ${await provider.token(AUDIENCE, MAY_ALL)}` },
  })
  assert.equal(asSystem.status, 401)

  for (const scope of ['openid', `aex:agent:${seats}`, 'aex:read', 'aex:approve aex:agent:*']) {
    const { status, challenge } = await post(await provider.token(AUDIENCE, scope))
    assert.equal(status, 403, scope)
    assert.match(challenge ?? '', /error="insufficient_scope", scope="aex:read /u, scope)
  }
  const own = await provider.token(AUDIENCE, MAY_ALL)
  assert.equal((await post(own, {}, PING, `/${seats}`)).status, 200)
  assert.equal((await post(own, {}, PING, `/${doors}`)).status, 404)
  assert.equal((await post(own, {}, PING, '/agent_nobody')).status, 404)
  assert.equal((await post(await provider.token(AUDIENCE, 'aex:read aex:agent:*'))).status, 422)

  const packageId = await sendToSeats('pol_other')
  await using other = await clientWith(`aex:read aex:inbox aex:agent:${doors}`)
  assert.match(await other.failure('read_package', { package_id: packageId }), /no such package/u)
  assert.deepEqual(await other.result('list_inbox'), { events: [], waiting: 0 })
  const [item] = await db<
    { item_id: string }[]
  >`select item_id from inbox_item where package_id = ${packageId}`
  assert.deepEqual(await other.result('finish_event', { event_id: item?.item_id }), { finished: false })
})

test('a model of one agent reads, revokes and answers nothing of another agent of the same organization', async () => {
  const packageId = await sendToSeats('pol_colleague')
  const hosted = gateway.agents.find(seats)
  assert.ok(hosted)
  const to = { organizationId: 'org_partner', agentId: 'agent_partner' }
  const out = await hosted.agent.send(contentFor(hosted.agent, to, 'from seats'))
  await givePolicy('pol_c', false, colleague)
  await using model = await clientWith(MAY_ALL.replace(seats, colleague))
  const unknown = 'pkg_00000000-0000-4000-8000-000000000000'
  const calls = (id: string, thread: string) =>
    [
      ['follow_thread', { thread_id: thread }],
      ['verify_capsule', { thread_id: thread }],
      ['verify_capsule', { package_id: id }],
      ['revoke_package', { package_id: id, reason: 'superseded' }],
      ['answer_package', { package_id: id, policy_id: 'pol_c', content: { response_actions: ['agree'] } }],
    ] as const
  const missing: string[] = []
  for (const [tool, input] of calls(unknown, 'thread_00000000-0000-4000-8000-000000000000'))
    missing.push(await model.failure(tool, input))
  const answered = calls(packageId, out.threadId).at(-1)
  for (const [index, [tool, input]] of calls(out.packageId, out.threadId).entries()) {
    assert.match(missing[index] ?? '', /no such package/u, tool)
    assert.equal(await model.failure(tool, input), missing[index], tool)
  }
  assert.ok(answered)
  assert.match(await model.failure(answered[0], answered[1]), /no such package/u)
  const { state } = await hosted.agent.context.connection.call('getPackage', {
    path: { package_id: out.packageId },
  })
  assert.notEqual(state, 'revoked')
})

test('a model neither reads nor discards a draft that a person wrote', async () => {
  const hosted = gateway.agents.find(seats)
  assert.ok(hosted)
  const to = { organizationId: 'org_partner', agentId: 'agent_partner' }
  const { draftId } = await hosted.drafts.create(contentFor(hosted.agent, to, 'a person wrote this'))
  const author = { kind: 'person', id: 'person_1' } as const
  await db.begin((tx) => recordAuthor(tx, { agentId: seats, draftId, author }))
  await using model = await clientWith(MAY_ALL)
  for (const tool of ['check_draft', 'discard_draft', 'send_draft'])
    assert.match(await model.failure(tool, { draft_id: draftId }), /draft_missing/u, tool)
  const { drafts } = await model.result<{ drafts: { draft_id: string }[] }>('list_drafts')
  assert.ok(!drafts.some(({ draft_id }) => draft_id === draftId))
  assert.equal((await hosted.drafts.get(draftId)).draftId, draftId)
  await hosted.drafts.send(draftId)
  assert.match(
    await model.failure('send_draft', { draft_id: draftId }),
    /draft_missing/u,
    'also after it was sent',
  )
})

test('a foreign origin and too large a body are refused; there is no session to take over', async () => {
  const token = await provider.token(AUDIENCE, MAY_ALL)
  for (const origin of ['https://attacker.example', 'null', `${PUBLIC_URL}.attacker.example`])
    assert.equal((await post(token, { origin })).status, 403, origin)
  assert.equal((await post(token, { origin: PUBLIC_URL })).status, 200)
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'ping',
    pad: 'x'.repeat(MAXIMUM_MESSAGE_BYTES),
  })
  assert.equal((await post(token, {}, body)).status, 413)

  const initialize = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  })
  const { status, response } = await post(token, {}, initialize)
  assert.equal(status, 200)
  assert.equal(response.headers.get('mcp-session-id'), null)
  const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
  const narrow = await provider.token(AUDIENCE, `aex:read aex:agent:${seats}`)
  const listed = await post(narrow, { 'mcp-session-id': 'session-of-another' }, list)
  assert.doesNotMatch(listed.text, /send_draft/u)
})

test('the metadata of the protected resource names the provider and the scopes (RFC 9728)', async () => {
  for (const path of ['', '/mcp']) {
    const response = await fetch(`${gateway.urls.api}/.well-known/oauth-protected-resource${path}`)
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
    const metadata = (await response.json()) as Record<string, unknown>
    assert.equal(metadata['resource'], `${PUBLIC_URL}/mcp`)
    assert.deepEqual(metadata['authorization_servers'], [provider.issuer])
  }
})
