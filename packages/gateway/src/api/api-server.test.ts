import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parsePolicy } from '@agent-exchange/log'
import { recordAuthor } from '../approvals/draft-authors.ts'
import { listAccess } from '../content/access-record.ts'
import { alterContent, deleteContent, storeContent } from '../content/contents.fixture.ts'
import { addItem, endTimes } from '../inbox/inbox.fixture.ts'
import { listSystems, revokeSystem } from '../systems/api-keys.ts'
import { VERBS } from '../systems/verbs.ts'
import { reasoning, startApi } from './api.fixture.ts'
import { gatewayOperations } from './operations.ts'

let api: Awaited<ReturnType<typeof startApi>>
let key: string
before(async () => {
  api = await startApi()
  key = await api.key()
  await api.policy('acme', 'bolt')
  await api.policy('acme', 'bolt', (policy) => ({
    ...policy,
    id: 'pol_guarded',
    policy_id: 'pol_guarded',
    human_approval: { required: true, approval_id: 'approval_desk' },
  }))
  await api.policy('bolt', 'acme')
})
after(() => api[Symbol.asyncDispose]())

const ACME = '/agents/agent_acme'
const BOLT = '/agents/agent_bolt'
let keys = 0
const once = () => ({ 'idempotency-key': `key-${(keys += 1)}` })
const draftBody = (summary: string, policy_id = 'pol_free') => ({
  to: 'agent_bolt',
  object_type: 'reasoning_package',
  policy_id,
  content: reasoning(summary),
})

async function drafted(summary: string, policyId?: string): Promise<string> {
  const { status, body } = await api.call(key, 'POST', `${ACME}/drafts`, draftBody(summary, policyId), once())
  assert.equal(status, 201, JSON.stringify([body, api.logged]))
  return String(body['draft_id'])
}

test('a system drafts, checks and sends; the answer comes through the inbox and is kept with its capsule', async () => {
  const draftId = await drafted('Rails are short in week 12.')
  const checked = await api.call(key, 'GET', `${ACME}/drafts/${draftId}`)
  assert.deepEqual([checked.status, checked.body['passed'], checked.body['checks'].length], [200, true, 5])
  const sent = await api.call(key, 'POST', `${ACME}/drafts/${draftId}/send`, {}, once())
  assert.deepEqual([sent.status, sent.body['state']], [200, 'sent'], JSON.stringify(sent.body))
  const again = await api.call(key, 'POST', `${ACME}/drafts/${draftId}/send`, {}, once())
  assert.equal(again.body['package_id'], sent.body['package_id'], 'it is sent once')
  const packageId = String(sent.body['package_id'])

  const answer = await api.call(
    key,
    'POST',
    `${BOLT}/drafts`,
    {
      responds_to: packageId,
      policy_id: 'pol_free',
      content: { response_actions: ['agree'], response_summary: 'Week 13 is fine.' },
    },
    once(),
  )
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  const answered = await api.call(key, 'POST', `${BOLT}/drafts/${answer.body['draft_id']}/send`, {}, once())
  assert.equal(answered.status, 200, JSON.stringify(answered.body))

  const thread = await api.call(key, 'GET', `${ACME}/threads/${sent.body['thread_id']}`)
  assert.equal(thread.body['packages'].length, 2)
  const threads = await api.call(key, 'GET', `${ACME}/threads`)
  const [{ last_package_at: lastAt, ...listed }, ...others] = threads.body['threads']
  assert.deepEqual([listed, others], [{ thread_id: sent.body['thread_id'], packages: 1 }, []])
  assert.ok(Date.parse(lastAt) <= Date.now())
  const packages = await api.call(key, 'GET', `${ACME}/packages?limit=1&thread_id=${sent.body['thread_id']}`)
  assert.deepEqual(packages.body['packages'][0].package_id, packageId)

  await addItem(api.db, { agentId: 'agent_acme', packageId })
  const leased = await api.call(key, 'POST', '/inbox/leases', { wait: 5, agent_id: 'agent_acme' })
  const [lease] = leased.body['leases']
  assert.equal(lease.package.object.reasoning.summary, 'Rails are short in week 12.')
  const [read] = await listAccess(api.db, 'agent_acme', packageId)
  assert.equal(read?.purpose, 'leaseItems')
  const done = await api.call(key, 'POST', `/inbox/leases/${lease.item_id}/done`, {
    lease_token: lease.lease_token,
  })
  assert.equal(done.status, 200)
  const stale = await api.call(key, 'POST', `/inbox/leases/${lease.item_id}/done`, {
    lease_token: lease.lease_token,
  })
  assert.deepEqual([stale.status, stale.body['code']], [409, 'lease_stale'])

  const opened = await api.call(key, 'GET', `${ACME}/packages/${packageId}`)
  assert.equal(opened.body['provenance'].policy_id, 'pol_free')
  const capsule = await api.call(key, 'GET', `${ACME}/capsule?package_id=${packageId}`)
  assert.equal(capsule.status, 200, JSON.stringify(capsule.body))
  const verdict = async () => {
    const { body } = await api.call(key, 'GET', `${ACME}/packages/${packageId}?verdict=true`)
    return [body['verdict'].outcome, body['verdict'].level]
  }
  assert.deepEqual(await verdict(), ['below', 'unpinned'])
  const [acme] = api.agents
  assert.ok(acme)
  // As an administrator does who trusts the key of the log.
  Object.assign(acme, { logPolicy: parsePolicy(`log ${capsule.body['log'].key}\nquorum none\n`) })
  assert.deepEqual(await verdict(), ['meets', 'log-signed'])
  await deleteContent(api.db, packageId)
  assert.equal((await api.call(key, 'GET', `${ACME}/packages/${packageId}`)).body['code'], 'content_gone')
})

test('a draft that needs a person waits, whatever the system may do', async () => {
  const draftId = await drafted('Guarded.', 'pol_guarded')
  const sent = await api.call(key, 'POST', `${ACME}/drafts/${draftId}/send`, {}, once())
  assert.deepEqual([sent.status, sent.body['state']], [202, 'waiting_for_person'])
  const { body } = await api.call(key, 'GET', `${ACME}/drafts/${draftId}`)
  assert.deepEqual([body['waits_for_person'], body['draft'].state], [true, 'waiting'])
  const unasked = await api.call(key, 'POST', `${ACME}/drafts/${draftId}/approve`, {}, once())
  assert.equal(unasked.status, 404, 'no operation approves')
})

test('a draft whose policy was changed since is not sent', async () => {
  const draftId = await drafted('Old policy.')
  await api.policy('acme', 'bolt', (policy) => ({ ...policy, purpose: 'another purpose' }))
  const { status, body } = await api.call(key, 'POST', `${ACME}/drafts/${draftId}/send`, {}, once())
  assert.deepEqual([status, body['code']], [409, 'policy_refused'])
  const unknown = await api.call(key, 'POST', `${ACME}/drafts`, draftBody('x', 'pol_none'), once())
  assert.deepEqual([unknown.status, unknown.body['code']], [422, 'policy_unknown'])
  assert.deepEqual(unknown.body['details'].policies, ['pol_free', 'pol_guarded'])
})

test('an idempotency key is required, replays the answer, and refuses another body', async () => {
  const body = draftBody('Once.')
  const missing = await api.call(key, 'POST', `${ACME}/drafts`, body)
  assert.deepEqual([missing.status, missing.body['code']], [400, 'header_missing'])
  const headers = once()
  const first = await api.call(key, 'POST', `${ACME}/drafts`, body, headers)
  const [replay, ...others] = await Promise.all(
    [1, 2, 3].map(() => api.call(key, 'POST', `${ACME}/drafts`, body, headers)),
  )
  for (const each of [replay, ...others]) assert.deepEqual(each?.body, first.body)
  const other = await api.call(key, 'POST', `${ACME}/drafts`, draftBody('Twice.'), headers)
  assert.deepEqual([other.status, other.body['code']], [409, 'idempotency_key_reuse'])
  const otherPath = await api.call(key, 'POST', `${BOLT}/drafts`, body, headers)
  assert.equal(otherPath.body['code'], 'idempotency_key_reuse')
  const ofAnother = await api.call(await api.key(), 'POST', `${ACME}/drafts`, body, headers)
  assert.notEqual(ofAnother.body['draft_id'], first.body['draft_id'], 'keys belong to a system')
})

test('a system does only what its verbs permit, for its agents', async () => {
  const draftId = await drafted('Scopes.')
  const drafting = await api.key(['agent_acme'], ['draft'])
  const refused = await api.call(drafting, 'POST', `${ACME}/drafts/${draftId}/send`, {}, once())
  assert.deepEqual([refused.status, refused.body['details']], [403, { verb: 'send' }])
  assert.equal((await api.call(drafting, 'GET', `${ACME}/drafts/${draftId}`)).status, 200)
  for (const path of ['/threads', '/packages', '/packages/pkg_1', '/capsule?package_id=pkg_1'])
    assert.equal((await api.call(drafting, 'GET', ACME + path)).status, 403, path)
  assert.equal((await api.call(drafting, 'POST', '/inbox/leases', {})).status, 403)
})

test('requests that are not permitted count as calls of the system', async () => {
  const reading = await api.key(['agent_acme'], ['read'])
  const statuses = new Set<number>()
  for (let sent = 0; sent < 1_250; sent += 50)
    for (const { status } of await Promise.all(
      Array.from({ length: 50 }, () => api.call(reading, 'POST', '/inbox/leases', {})),
    ))
      statuses.add(status)
  assert.deepEqual([...statuses], [403, 429])
})

test('each operation is refused to a system that may do everything else', async () => {
  for (const verb of VERBS) {
    const without = await api.key(
      ['*'],
      VERBS.filter((each) => each !== verb),
    )
    for (const { method, path } of Object.values(gatewayOperations).filter((each) => each.verb === verb)) {
      const [given, body] = [path.replace('/api/v1', '').replaceAll(/\{\w+\}/gu, 'x'), {}]
      const refused = await api.call(without, method, given, method === 'POST' ? body : undefined, once())
      assert.deepEqual([refused.status, refused.body['details']], [403, { verb }], path)
    }
  }
})

test('the data of another agent is not found: by id, by lease, by capsule', async () => {
  const draftId = await drafted('Not for Bolt.')
  const sent = await api.call(key, 'POST', `${ACME}/drafts/${draftId}/send`, {}, once())
  const packageId = String(sent.body['package_id'])
  const ofBolt = await api.key(['agent_bolt'])
  await addItem(api.db, { agentId: 'agent_acme', packageId })
  const [lease] = (await api.call(key, 'POST', '/inbox/leases', { agent_id: 'agent_acme' })).body['leases']
  const token = { lease_token: lease.lease_token }
  for (const [method, path, body] of [
    ['GET', `${ACME}/packages/${packageId}`],
    ['GET', `${ACME}/packages`],
    ['GET', `${ACME}/threads`],
    ['GET', `${ACME}/drafts/${draftId}`],
    ['GET', `${BOLT}/drafts/${draftId}`],
    ['GET', `${BOLT}/packages/${packageId}`],
    ['GET', `${ACME}/capsule?package_id=${packageId}`],
    ['POST', '/inbox/leases', { agent_id: 'agent_acme' }],
    ['POST', `/inbox/leases/${lease.item_id}/done`, token],
    ['POST', `/inbox/leases/${lease.item_id}/failed`, { ...token, reason: 'x' }],
    ['POST', `/inbox/leases/${lease.item_id}/extend`, { ...token, visibility: 60 }],
    ['POST', `/inbox/set-aside/${lease.item_id}/retry`, {}],
    ['POST', `${ACME}/drafts/${draftId}/send`, {}],
    ['POST', `${ACME}/packages/${packageId}/revoke`, { reason: 'superseded' }],
  ] as const) {
    const found = await api.call(ofBolt, method, path, body, method === 'POST' ? once() : {})
    assert.deepEqual([found.status, found.body['code']], [404, 'resource_not_found'], path)
  }
  assert.deepEqual((await api.call(ofBolt, 'POST', '/inbox/leases', {})).body['leases'], [])
  const nobody = await api.key(['agent_acmex'])
  assert.deepEqual((await api.call(nobody, 'POST', '/inbox/leases', {})).body['leases'], [])
})

test('a draft that a person wrote is not found, also after it was sent', async () => {
  const draftId = await drafted('A person wrote the same.')
  const author = { kind: 'person', id: 'person_ida' } as const
  await api.db.begin((tx) => recordAuthor(tx, { agentId: 'agent_acme', draftId, author }))
  const refused = async () => {
    const path = `${ACME}/drafts/${draftId}`
    for (const found of [
      await api.call(key, 'GET', path),
      await api.call(key, 'POST', `${path}/send`, {}, once()),
    ])
      assert.deepEqual([found.status, found.body['code']], [404, 'resource_not_found'])
  }
  await refused()
  const [acme] = api.agents
  assert.equal((await acme?.drafts.get(draftId))?.state, 'ready', 'nothing was sent')
  await acme?.drafts.send(draftId)
  await refused()
})

test('the reason of a failed item is shown to systems and not readable in the database', async () => {
  const { packageId } = await addItem(api.db, { agentId: 'agent_bolt' })
  await api.db`update inbox_item set attempts = 7 where package_id = ${packageId}`
  const [lease] = (await api.call(key, 'POST', '/inbox/leases', { agent_id: 'agent_bolt' })).body['leases']
  const reason = 'row 7 says canary-umbra'
  const path = `/inbox/leases/${lease.item_id}/failed`
  const failed = await api.call(key, 'POST', path, { lease_token: lease.lease_token, reason })
  assert.equal(failed.status, 200, JSON.stringify(failed.body))
  const { body } = await api.call(key, 'GET', '/inbox/set-aside')
  assert.ok(body['items'].some((item: { failure: string }) => item.failure === reason))
  assert.ok(!JSON.stringify(await api.db`select t::text from inbox_item t`).includes('canary-umbra'))
  await api.db`
    update inbox_item set failure_wrapped = set_byte(failure_wrapped, 20, 255 - get_byte(failure_wrapped, 20))
    where package_id = ${packageId}`
  const { status, body: damaged } = await api.call(key, 'GET', '/inbox/set-aside')
  const reasons = damaged['items'].map((item: { failure: string }) => item.failure)
  assert.deepEqual([status, reasons.includes('The reason cannot be decrypted.')], [200, true])
})

test('content that cannot be read fails its item, and the others of the request are leased', async () => {
  const broken = await addItem(api.db, { agentId: 'agent_bolt' })
  const whole = await addItem(api.db, { agentId: 'agent_bolt' })
  const packagesOf = async () => {
    const { status, body } = await api.call(key, 'POST', '/inbox/leases', { agent_id: 'agent_bolt', max: 20 })
    assert.equal(status, 200, JSON.stringify(body))
    return body['leases'].map((each: { package_id: string }) => each.package_id) as string[]
  }
  for (const { packageId } of [broken, whole]) await storeContent(api.db, 'agent_bolt', packageId)
  await alterContent(api.db, broken.packageId)
  assert.deepEqual(await packagesOf(), [whole.packageId])
  assert.ok(api.logged.some((line) => line.includes('content of an item cannot be read')))
  await api.db`update inbox_item set attempts = 7 where package_id = ${broken.packageId}`
  await endTimes(api.db)
  assert.ok(!(await packagesOf()).includes(broken.packageId))
  const { body } = await api.call(key, 'GET', '/inbox/set-aside')
  const found = body['items'].find((item: { package_id: string }) => item.package_id === broken.packageId)
  assert.equal(found?.failure, 'The stored content cannot be read.')
})

test('a package that its recipient has not opened can be revoked', async () => {
  const draftId = await drafted('Wrong.')
  const { body } = await api.call(key, 'POST', `${ACME}/drafts/${draftId}/send`, {}, once())
  const path = `${ACME}/packages/${body['package_id']}/revoke`
  const revoked = await api.call(key, 'POST', path, { reason: 'superseded' }, once())
  assert.equal(revoked.body['future_access_blocked'], true, JSON.stringify(revoked.body))
  const free = await api.call(key, 'POST', path, { reason: 'because of project Falcon' }, once())
  assert.equal(free.status, 422)
  assert.doesNotMatch(JSON.stringify(free.body), /Falcon/u)
})

test('without a valid key nothing is done; a key is in no log and shown in no answer', async () => {
  const revokedKey = await api.key()
  const system = (await listSystems(api.db)).at(-1)
  await revokeSystem(api.db, system?.systemId ?? '')
  for (const [given, code] of [
    [undefined, 'access_token_missing'],
    ['aexg_', 'access_token_invalid'],
    [`aexg_${'x'.repeat(43)}`, 'access_token_invalid'],
    [revokedKey, 'access_token_invalid'],
    ['a.b.c', 'access_token_invalid'],
  ] as const) {
    const { status, body, headers } = await api.call(given, 'GET', `${ACME}/threads`)
    assert.deepEqual([status, body['code']], [401, code])
    assert.match(headers.get('www-authenticate') ?? '', /^Bearer/u)
  }
  assert.equal((await api.call(key, 'GET', `${ACME}/threads?limit=1`)).status, 200)
  await api.tidy()
  assert.ok((await listSystems(api.db)).some(({ lastUsedAt }) => lastUsedAt !== null))
  const everything = JSON.stringify([
    api.logged,
    await listSystems(api.db),
    await api.db`select * from company_system`,
  ])
  for (const secret of [key, revokedKey]) assert.ok(!everything.includes(secret.slice(5)))
})

test('requests that are malformed, too large or unknown get problem documents', async () => {
  const post = (body: string, type = 'application/json') =>
    fetch(`${api.url}/api/v1/inbox/leases`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': type },
      body,
    })
  for (const [body, status, type] of [
    ['{', 400],
    ['{"wait":1,"wait":2}', 400],
    ['{"wait":31}', 422],
    ['{"max":21}', 422],
    ['{"visibility":0}', 422],
    ['{"other":1}', 422],
    [JSON.stringify({ pad: 'x'.repeat(2_200_000) }), 413],
    ['wait=1', 415, 'application/x-www-form-urlencoded'],
  ] as const) {
    const response = await post(body, type)
    assert.equal(response.status, status, body.slice(0, 40))
    assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json/u)
  }
  assert.equal((await api.call(key, 'GET', '/nothing')).status, 404)
  assert.equal((await api.call(key, 'GET', `${ACME}/packages?limit=201`)).status, 422)
})

test('text that no id can be is not found in a path, and refused in a query', async () => {
  for (const text of ['%00', 'pkg_1%00', 'a%20b', '%E2%82%AC', '..%2Fx'])
    for (const [method, path] of [
      ['GET', `/agents/${text}/threads`],
      ['GET', `${ACME}/threads/${text}`],
      ['GET', `${ACME}/packages/${text}`],
      ['GET', `${ACME}/drafts/${text}`],
      ['POST', `${ACME}/drafts/${text}/send`],
      ['POST', `${ACME}/packages/${text}/revoke`],
      ['POST', `/inbox/leases/${text}/done`],
      ['POST', `/inbox/set-aside/${text}/retry`],
    ] as const) {
      const body = { done: { lease_token: 'x'.repeat(43) }, revoke: { reason: 'superseded' } }
      const given = body[path.split('/').at(-1) as keyof typeof body] ?? {}
      const post = method === 'POST' ? ([given, once()] as const) : []
      const found = await api.call(key, method, path, ...post)
      assert.deepEqual([found.status, found.body['code']], [404, 'resource_not_found'], path)
    }
  for (const query of [
    'threads?before=%00',
    'packages?before=pkg_1%00',
    'packages?thread_id=%00',
    'capsule?package_id=%00',
  ]) {
    const found = await api.call(key, 'GET', `${ACME}/${query}`)
    assert.deepEqual([found.status, found.body['code']], [422, 'validation_failed'], query)
  }
})
