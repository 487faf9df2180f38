import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newObject } from '@agent-exchange/sdk/internal'
import { searchForPlaintext, until, type World } from '@agent-exchange/testkit'
import { reasoning } from '../api/api.fixture.ts'
import { putPolicy } from '../policies/agent-policies.ts'
import { addSystem } from '../systems/api-keys.ts'
import { VERBS } from '../systems/verbs.ts'
import { SKILL, startCompanies } from './two-instances.fixture.ts'

const CANARY = 'canary-brass-heron-2718'
const companies = await startCompanies()
after(() => companies[Symbol.asyncDispose]())

test('content and API keys that went through the API are in no table, log line, metric or problem', async () => {
  const agentId = await companies.addAgent('canary')
  await using gateway = await companies.startInstance()
  const { db, urls } = gateway
  const now = new Date(companies.world.clock.now())
  const by = { organizationId: 'org_canary', agentId }
  const policy = newObject('policy_envelope', { by, to: 'org_partner', now, policyId: 'pol_free' })
  await putPolicy(db, agentId, JSON.stringify(policy))
  const { key } = await addSystem(db, { name: 'erp', agents: [agentId], verbs: VERBS })
  const problems: string[] = []
  let calls = 0
  const call = async (path: string, body?: object) => {
    const response = await fetch(`${urls.api}/api/v1${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json', 'idempotency-key': `key-${(calls += 1)}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) problems.push(text)
    // oxlint-disable-next-line typescript/no-explicit-any -- tests read whatever members an answer has
    return JSON.parse(text) as Record<string, any>
  }

  const content = { ...reasoning(CANARY), unexpected: CANARY }
  const draft = { to: 'agent_partner', object_type: 'reasoning_package', policy_id: 'pol_free' }
  const drafts = `/agents/${agentId}/drafts`
  await call(drafts, { ...draft, content })
  await call(drafts, { ...draft, content: reasoning(CANARY), policy_id: CANARY })
  const open = await call(drafts, { ...draft, content: reasoning(CANARY) })
  const sent = await call(drafts, { ...draft, content: reasoning(CANARY) })
  const { package_id: sentId } = await call(`${drafts}/${sent['draft_id']}/send`, {})
  assert.ok(sentId, problems.join('\n'))
  assert.equal((await call(`${drafts}/${open['draft_id']}`))['passed'], true)

  const { partner } = companies
  const theirs = partner.make.policyEnvelope({ to: 'org_canary', purpose: 'supply planning' })
  const about = {
    to: 'org_canary',
    policy: theirs,
    summary: CANARY,
    facts: [{ statement: CANARY }],
    ask: 'confirm',
  }
  await partner.send({ object: partner.make.reasoningPackage(about), policy: theirs, to: by, skill: SKILL })
  const lease = await until(
    'the package',
    async () => (await call('/inbox/leases', { wait: 1 }))['leases'][0],
  )
  assert.match(JSON.stringify(lease.package), new RegExp(CANARY, 'u'))
  await call(`/inbox/leases/${lease.item_id}/failed`, { lease_token: lease.lease_token, reason: 'closed' })
  for (const path of ['/threads', '/packages', `/packages/${sentId}`]) await call(`/agents/${agentId}${path}`)

  const metrics = await (await fetch(`${urls.admin}/metrics`)).text()
  const searched = await searchForPlaintext(
    // The client of the gateway's database takes the same templates.
    { folders: [], sql: db as unknown as World['sql'], logged: [...companies.logged, metrics, ...problems] },
    [CANARY, key.slice(5), Buffer.alloc(32, 1).toString('base64url')],
  )
  assert.deepEqual(searched.found, [])
  assert.ok(searched.rows > 10 && problems.length === 2, `${searched.rows} rows; ${problems.join()}`)
})
