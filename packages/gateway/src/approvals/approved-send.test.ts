import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { insertPerson } from '../people/person-rows.ts'
import { reasoning } from '../api/api.fixture.ts'
import { putPolicy } from '../policies/agent-policies.ts'
import { SKILL, startCompanies } from '../startup/two-instances.fixture.ts'
import { testBox } from '../stores/gateway-database.fixture.ts'
import { addSystem } from '../systems/api-keys.ts'
import { addRule } from './approval-rules.ts'
import { openDraftDecisions } from './draft-decisions.ts'
import { openPasskeys } from './passkeys.ts'
import { softwareAuthenticator } from './software-authenticator.fixture.ts'

const PARTY = { origin: 'https://gateway.company.example', rpId: 'gateway.company.example' }
const companies = await startCompanies()
after(() => companies[Symbol.asyncDispose]())

test('a system cannot send what a rule guards until people approve; the receipt carries a reference alone', async () => {
  const agentId = await companies.addAgent('seats')
  await using gateway = await companies.startInstance({ AEX_GATEWAY_PUBLIC_URL: PARTY.origin })
  await gateway.agents.refresh()
  const { db } = gateway
  const hosted = gateway.agents.find(agentId)
  assert.ok(hosted)
  const now = () => new Date(companies.world.clock.now())
  const parts = { db, publicUrl: PARTY.origin, now }
  const [passkeys, key] = [
    openPasskeys({ ...parts, signInKey: new Uint8Array(32).fill(5) }),
    softwareAuthenticator(PARTY),
  ]
  const ida = { personId: 'person_ida', name: 'Ida Berg', signedInAt: now(), signedInBy: 'link' as const }
  const row = { id: ida.personId, name: ida.name, roles: ['approver'] as const, addedAt: now().toISOString() }
  await db.begin((tx) => insertPerson(tx, row, 1))
  await passkeys.register(ida, 'Laptop', key.create(await passkeys.registrationOptions(ida)))
  companies.world.clock.advance(1)
  await addRule(
    db,
    {
      partner: 'org_partner',
      policyId: null,
      packageType: null,
      sensitivity: null,
      people: 1,
      approvers: [],
    },
    { actor: { kind: 'command', id: 'Ole Dahl' }, now: now() },
  )
  const policy = hosted.agent.make.policyEnvelope({ to: 'org_partner', purpose: 'supply planning' })
  await putPolicy(db, agentId, JSON.stringify(policy))
  const object = hosted.agent.make.reasoningPackage({
    to: 'org_partner',
    policy,
    summary: 'Rails are short.',
    facts: ['A coil moved.'],
    ask: 'Confirm week 13.',
  })
  const to = { organizationId: 'org_partner', agentId: 'agent_partner' }
  const draft = await hosted
    .draftsBy({ kind: 'system', id: 'system_erp' })
    .create({ object, policy, to, skill: SKILL })
  assert.deepEqual([draft.state, draft.approvalRequired], ['waiting', true])

  const system = await addSystem(db, { name: 'erp', agents: [agentId], verbs: ['draft', 'send'] })
  let attempts = 0
  const send = async () => {
    const response = await fetch(
      `${gateway.urls.api}/api/v1/agents/${agentId}/drafts/${draft.draftId}/send`,
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${system.key}`,
          'idempotency-key': `send-${(attempts += 1)}`,
          'content-type': 'application/json',
        },
        body: '{}',
      },
    )
    return [response.status, (await response.json()) as Record<string, string>] as const
  }
  const [status, waiting] = await send()
  assert.deepEqual([status, waiting['state']], [202, 'waiting_for_person'])
  assert.equal(await hosted.outbox.read(draft.packageId), undefined, 'nothing is sealed')

  const decisions = openDraftDecisions({ ...parts, box: testBox(), namesOf: async () => new Map() })
  const person = { personId: ida.personId, isApprover: true }
  const shown = { agentId, draft, digest: draft.digest }
  const answer = key.get(await decisions.options(person, shown, 'approved'))
  await decisions.decide(person, shown, { answer, reason: 'Agreed with sales.' })
  assert.equal((await hosted.drafts.get(draft.draftId)).state, 'approved')
  const [sentStatus, sent] = await send()
  assert.deepEqual([sentStatus, sent['state']], [200, 'sent'])
  const entry = await hosted.outbox.read(draft.packageId)
  const receipt = JSON.parse(entry?.receiptText ?? '{}') as { human_approval?: Record<string, unknown> }
  assert.equal(receipt.human_approval?.['required'], true)
  assert.match(String(receipt.human_approval?.['approval_reference']), /^approval_[0-9a-f-]{36}$/u)
  for (const word of ['Ida', 'person_ida', 'sales', key.credentialId])
    assert.ok(!entry?.receiptText.includes(word), word)
})

test('a draft without its author is not kept', async () => {
  const agentId = await companies.addAgent('rails')
  await using gateway = await companies.startInstance()
  await gateway.agents.refresh()
  const { db } = gateway
  const hosted = gateway.agents.find(agentId)
  assert.ok(hosted)
  const policy = hosted.agent.make.policyEnvelope({ to: 'org_partner', purpose: 'supply planning' })
  await putPolicy(db, agentId, JSON.stringify(policy))
  const { key } = await addSystem(db, { name: 'erp', agents: [agentId], verbs: ['draft'] })
  const draft = async (name: string) => {
    const response = await fetch(`${gateway.urls.api}/api/v1/agents/${agentId}/drafts`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'idempotency-key': name,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        to: 'agent_partner',
        object_type: 'reasoning_package',
        policy_id: policy.policy_id,
        content: reasoning(name),
      }),
    })
    return response.status
  }
  const count = async (table: 'agent_draft' | 'draft_author') =>
    (table === 'agent_draft'
      ? await db`select from agent_draft where agent_id = ${agentId}`
      : await db`select from draft_author where agent_id = ${agentId}`
    ).length
  assert.equal(await draft('first'), 201)
  assert.deepEqual([await count('agent_draft'), await count('draft_author')], [1, 1])
  await db`create trigger author_fails before insert on draft_author for each row execute function refuse_change()`
  assert.equal(await draft('second'), 500)
  assert.deepEqual([await count('agent_draft'), await count('draft_author')], [1, 1])
  await db`drop trigger author_fails on draft_author`
})
