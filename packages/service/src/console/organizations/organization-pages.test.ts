import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generateKeyPair, parseInvitation } from '@agent-exchange/crypto'
import { draftSkillManifest, setScene, startWorld, type Scene, type World } from '@agent-exchange/testkit'
import { consoleClient, type ConsoleClient } from '../console-client.fixture.ts'

const MARKUP = '<script>alert(1)</script>"\'><img src=x onerror=alert(2)>'
/** What an attacker would need in the page: a tag of its own. */
const UNESCAPED = /<script>alert|<img src=x/u

let world: World
let scene: Scene
const clients: Record<string, ConsoleClient> = {}
before(async () => {
  world = await startWorld()
  scene = await setScene(world)
  for (const role of ['viewer', 'operator', 'administrator']) {
    const { body } = await world.operate('POST', '/operators', { name: role, role })
    const client = consoleClient(world.operatorUrl)
    assert.equal((await client.signIn(String(body['token']))).status, 303)
    clients[role] = client
  }
})
after(async () => {
  await world[Symbol.asyncDispose]()
})

const as = (role: string): ConsoleClient => {
  const client = clients[role]
  assert.ok(client)
  return client
}

/** Submits a form and follows it to the page that reports the outcome. */
async function done(role: string, path: string, fields: Record<string, string>, from: string) {
  const answer = await as(role).submit(path, fields, from)
  assert.equal(answer.status, 303, `${path} ${answer.text}`)
  return as(role).get(answer.location ?? '')
}

/** Submits a form that is shown again. */
async function refused(role: string, path: string, fields: Record<string, string>, from: string) {
  const answer = await as(role).submit(path, fields, from)
  assert.ok(answer.status >= 400 && answer.status < 500, `${path} ${answer.status}`)
  return answer.text
}

async function joined(command: string, agentId: string): Promise<number> {
  const invitation = parseInvitation(command)
  assert.ok(invitation)
  const { publicKey } = await generateKeyPair('signing')
  const response = await fetch(`${invitation.baseUrl}/join`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      invitation_secret: invitation.secret,
      agent_id: agentId,
      public_jwk: publicKey.jwk,
    }),
  })
  return response.status
}

test('with an identity provider, the form for invitations says where clients are registered', async () => {
  await using outside = await startWorld({ config: { issuer: 'https://login.example/realms/exchange' } })
  await outside.operate('POST', '/organizations', { organization_id: 'org_acme', name: 'Acme' })
  const { body } = await outside.operate('POST', '/operators', { name: 'op', role: 'operator' })
  const client = consoleClient(outside.operatorUrl)
  await client.signIn(String(body['token']))
  const fields = { organization_id: 'org_acme', agent_id: '', lifetime: '86400', reason: '' }
  const answer = await client.submit('/invitations', fields, '/invitations/new')
  const page = answer.status === 303 ? await client.get(answer.location ?? '') : answer
  assert.match(page.text, /identity provider, https:\/\/login\.example\/realms\/exchange/u)
  assert.doesNotMatch(page.text, /aexinv_/u)
})

test('from nothing to a joined client: organization, invitation shown once, use', async () => {
  const created = await done(
    'operator',
    '/organizations',
    { organization_id: 'org_flow', name: 'Flow GmbH', contact: 'ops@flow.example' },
    '/organizations/new',
  )
  assert.match(created.text, /org_flow was created[\s\S]*Invite an agent/u)
  assert.match(created.text, /Stored content[\s\S]*107 GB/u)
  const shown = await as('operator').submit(
    '/invitations',
    { organization_id: 'org_flow', agent_id: 'agent_flow', lifetime: '3600' },
    '/invitations/new?organization_id=org_flow',
  )
  assert.equal(shown.status, 200)
  const [, text = ''] = /npx aex agent join (aexinv_[\w-]+)/u.exec(shown.text) ?? []
  const id = /\/invitations\/(invitation_[0-9a-f]+)/u.exec(shown.text)?.[1] ?? ''
  assert.match((await as('viewer').get(`/invitations/${id}`)).text, /open/u)
  assert.equal(await joined(text, 'agent_flow'), 200)
  const used = await as('viewer').get(`/invitations/${id}`)
  assert.match(used.text, /Joined as[\s\S]*agent_flow/u)
  // Not on any other page, nor in a cookie.
  const { secret = '' } = parseInvitation(text) ?? {}
  for (const path of [`/invitations/${id}`, '/invitations', '/organizations/org_flow'])
    assert.equal((await as('operator').get(path)).text.includes(secret), false)
  assert.equal([...as('operator').cookies.values()].join().includes(secret), false)
})

test('every page opens for a viewer, says what to do when it is empty, and is smaller than 100 KB', async () => {
  const { sender } = scene
  const pages = [
    '/organizations',
    `/organizations/${sender.organizationId}`,
    `/organizations/${sender.organizationId}/consent`,
    `/organizations/${sender.organizationId}/end`,
    `/organizations/${sender.organizationId}/clients/${sender.clientId}`,
    '/invitations',
    '/agents',
    `/agents/${sender.agentId}`,
    '/skills',
    '/keys',
    '/alerts',
    '/backup',
    '/log',
  ]
  for (const path of pages) {
    const { status, text } = await as('viewer').get(path)
    assert.equal(status, 200, path)
    assert.ok(Buffer.byteLength(text) < 100_000, `${path} has ${text.length}`)
    // A viewer changes nothing, so there is no form but the one that signs out.
    assert.deepEqual(text.match(/<form [^>]*method="post"[^>]*>/gu)?.length, 1, path)
  }
  assert.equal((await as('viewer').get('/organizations/org_nobody')).status, 404)
  assert.equal((await as('viewer').get('/agents/agent_nobody')).status, 404)
  assert.equal((await as('viewer').get('/keys/none')).status, 404)
})

test('role escalation by direct requests is refused and changes nothing', async () => {
  const id = scene.sender.organizationId
  const attempts: [string, string, Record<string, string>][] = [
    ['viewer', '/organizations', { organization_id: 'org_stolen', name: 'x' }],
    ['viewer', `/organizations/${id}/suspend`, { reason: 'x' }],
    ['viewer', `/organizations/${id}/contact`, { contact: 'x@y.example' }],
    ['viewer', `/organizations/${id}/consent/from`, { accepts_from: 'listed' }],
    ['viewer', `/organizations/${id}/quotas`, { packages_per_day: '0' }],
    ['viewer', '/invitations', { organization_id: id }],
    ['viewer', `/agents/${scene.sender.agentId}/status`, { status: 'suspended', reason: 'x' }],
    ['operator', `/organizations/${id}/end`, { confirm: id, reason: 'x' }],
    ['operator', '/keys/rotate', { purpose: 'token' }],
    ['operator', '/log/recover', { mirror_url: 'https://mirror.example', reason: 'x' }],
  ]
  const state = async () => [
    (await world.operate('GET', `/organizations/${id}`)).body['status'],
    (await world.sql`select from invitation where organization_id = ${id}`).length,
    (await world.sql`select from platform_key`).length,
  ]
  const unchanged = await state()
  for (const [role, path, fields] of attempts) {
    const answer = await as(role).submit(path, fields, '/organizations')
    assert.equal(answer.status, 403, `${role} ${path}`)
    assert.match(answer.text, /This needs the role/u)
  }
  assert.deepEqual(await state(), unchanged)
  assert.equal((await as('viewer').get('/organizations/new')).status, 403)
})

test('markup in every text that organizations and agents choose stays text', async () => {
  await world.operate('POST', '/organizations', { organization_id: 'org_markup', name: MARKUP })
  const connector = { organization_id: 'org_markup', connector_id: MARKUP, participant_id: MARKUP }
  assert.equal(
    (
      await world.operate('POST', '/connectors', {
        ...connector,
        endpoint: 'https://c.example/?q=%3Cscript%3E',
      })
    ).status,
    201,
  )
  const { recipient } = scene
  await world.operate('POST', `/organizations/${recipient.organizationId}/consent`, { block: ['org_markup'] })
  await world.sql`
    update agent set implementation = ${MARKUP}, implementation_version = ${MARKUP}, skill_versions = ${JSON.stringify({ [MARKUP]: MARKUP })}
    where agent_id = ${recipient.agentId}`
  await world.sql`
    insert into webhook_endpoint (webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, created_at, updated_at)
    select 'wh_markup', 'org_markup', 'https://x.example', '{}', key_id, 'active', now(), now()
    from platform_key where purpose = 'webhook' limit 1`
  await world.sql`
    insert into alert (organization_id, webhook_endpoint_id, kind, reason, raised_at, mail_state, mail_next_at, mail_error)
    values ('org_markup', 'wh_markup', 'endpoint_disabled', ${MARKUP}, now(), 'failed', now(), ${MARKUP})`
  for (const path of [
    '/organizations',
    '/organizations/org_markup',
    '/organizations/org_markup/consent',
    `/organizations/${recipient.organizationId}/consent?sender_org_id=${encodeURIComponent(MARKUP)}`,
    '/organizations/org_markup/end',
    '/organizations/org_markup/export',
    `/organizations/org_markup/connectors/${encodeURIComponent(MARKUP)}`,
    '/agents',
    `/agents/${recipient.agentId}`,
    '/alerts',
    `/alerts?organization_id=${encodeURIComponent(MARKUP)}`,
    `/invitations?organization_id=${encodeURIComponent(MARKUP)}`,
    `/invitations/new?organization_id=${encodeURIComponent(MARKUP)}`,
  ]) {
    const { status, text } = await as('administrator').get(path)
    assert.equal(status, 200, path)
    assert.doesNotMatch(text, UNESCAPED, path)
  }
})

test('clients, connectors and agents are changed with a reason, and wrong input changes nothing', async () => {
  const { recipient } = scene
  const id = recipient.organizationId
  const { publicKey } = await generateKeyPair('signing')
  const page = `/organizations/${id}`
  const jwk = JSON.stringify(publicKey.jwk)
  const wrong = await refused('operator', `${page}/clients`, { public_jwk: '{' }, `${page}/add-client`)
  assert.match(wrong, /Nothing was changed[\s\S]*client-public-key\.json/u)
  const added = await done('operator', `${page}/clients`, { public_jwk: jwk }, `${page}/add-client`)
  const [, path = ''] = /action="(\/organizations\/[^"]+)\/disable"/u.exec(added.text) ?? []
  assert.match((await done('operator', `${path}/rotate`, { public_jwk: jwk }, path)).text, /was replaced/u)
  assert.match((await done('operator', `${path}/disable`, { reason: 'test' }, path)).text, /is disabled/u)

  const approval = { connector_id: 'edc 1/new', participant_id: 'BPN1', endpoint: 'https://edc.example' }
  const approved = await done('operator', `${page}/connectors`, approval, `${page}/approve-connector`)
  assert.match(approved.text, /The connector is approved/u)
  const connector = `${page}/connectors/${encodeURIComponent('edc 1/new')}`
  assert.match(
    (await done('operator', `${connector}/suspend`, { reason: 'test' }, connector)).text,
    /is suspended/u,
  )
  assert.match(
    (await done('operator', `${connector}/revoke`, { reason: 'test' }, connector)).text,
    /is revoked/u,
  )

  const agent = `/agents/${recipient.agentId}`
  assert.match(
    (await done('operator', `${agent}/certification`, { status: 'certified' }, agent)).text,
    /certified/u,
  )
  const noReason = await refused('operator', `${agent}/status`, { status: 'paused' }, agent)
  assert.match(noReason, /Nothing was changed/u)
  const paused = await done('operator', `${agent}/status`, { status: 'paused', reason: 'test' }, agent)
  assert.match(paused.text, /The status is paused/u)
  const contact = (address: string) => done('operator', `${page}/contact`, { contact: address }, page)
  assert.match((await contact('duty@flow.example')).text, /The contact was changed[^]*duty@flow\.example/u)
  assert.match(
    await refused('operator', `${page}/contact`, { contact: 'nobody' }, page),
    /Nothing was changed/u,
  )
  assert.match((await contact('')).text, /The contact was changed/u)
  assert.match((await done('operator', `${page}/suspend`, { reason: 'test' }, page)).text, /is suspended/u)
  assert.match((await done('operator', `${page}/activate`, {}, page)).text, /is active again/u)
})

test('[O-50][O-13] whose packages an organization accepts, and what it may send, is changed by forms', async () => {
  const [id, other] = [scene.sender.organizationId, scene.recipient.organizationId]
  const path = `/organizations/${id}/consent`
  assert.match((await as('operator').get(`/organizations/${id}`)).text, /Anyone who is not blocked, as the/u)
  const only = await done('operator', `${path}/from`, { accepts_from: 'listed', reason: 'asked' }, path)
  assert.match(only.text, /Changed: Accepted organizations only\./u)
  const fields = { sender_org_ids: `${other}, org_platform`, list: 'accept' }
  assert.match(
    (await done('operator', `${path}/senders`, fields, path)).text,
    /Changed: 2 accepted and 0 block/u,
  )
  const wrong = { sender_org_ids: 'org_nobody', list: 'block' }
  assert.match(await refused('operator', `${path}/senders`, wrong, path), /there is none with this id/u)
  const limit = { packages_per_day: '1000', threads_per_day: '' }
  const limited = await done('operator', `/organizations/${id}/quotas`, limit, path)
  assert.match(limited.text, /at most 1,000, \d+ today \(UTC\)[^;][^]*no limit, \d+ today \(UTC\); as the/u)
  const many = { packages_per_day: 'many', threads_per_day: '' }
  await refused('operator', `/organizations/${id}/quotas`, many, path)
})

test('platform keys are rotated and revoked by an administrator', async () => {
  const rotated = await done('administrator', '/keys/rotate', { purpose: 'statement' }, '/keys')
  const key = />([^<>]+) is published\./u.exec(rotated.text)?.[1] ?? ''
  assert.notEqual(key, '')
  const path = `/keys/${encodeURIComponent(key)}`
  assert.match((await as('administrator').get(path)).text, /For emergencies only/u)
  assert.match(
    (await done('administrator', `${path}/revoke`, { reason: 'test' }, path)).text,
    /The key is revoked/u,
  )
})

test('a small skill is published by the form', async () => {
  const manifest = draftSkillManifest({ skill_id: 'skill_form', release_channel: 'stable' })
  const fields = { manifest: JSON.stringify(manifest), artifact: Buffer.from('skill').toString('base64') }
  const published = await done('operator', '/skills', fields, '/skills')
  assert.match(published.text, /skill_form 1\.0\.0 is published/u)
})

test('an end is confirmed by the id, then removes the data in steps', async () => {
  await world.operate('POST', '/organizations', { organization_id: 'org_over', name: 'Over' })
  const page = '/organizations/org_over/end'
  assert.match((await as('operator').get(page)).text, /Only an administrator can end/u)
  const wrong = await refused('administrator', page, { confirm: 'org_ove', reason: 'test' }, page)
  assert.match(wrong, /Repeat the id of the organization/u)
  assert.match(
    (await done('administrator', page, { confirm: 'org_over', reason: 'test' }, page)).text,
    /has ended/u,
  )
  const finished = await done('administrator', `${page}/continue`, {}, page)
  assert.match(finished.text, /finished/u)
  const { text } = await as('administrator').get('/organizations/org_over')
  assert.match(text, /This organization has ended/u)
  assert.doesNotMatch(text, /Invite an agent|Suspend…|Resume…/u)
})
