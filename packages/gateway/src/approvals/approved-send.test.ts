import assert from 'node:assert/strict'
import { after, test } from 'node:test'
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
  const [passkeys, key] = [openPasskeys(parts), softwareAuthenticator(PARTY)]
  const ida = { personId: 'person_ida', name: 'Ida Berg', signedInAt: now() }
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
    { by: 'Ole Dahl', now: now() },
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
  const draft = await hosted.drafts.create({ object, policy, to, skill: SKILL })
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
