import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleObjects, validateObject } from '@agent-exchange/protocol'
import { makersOf, newObject } from '@agent-exchange/sdk/internal'
import { conversationParts, packageFrom, recipientFrom } from './conversation-form.ts'
import {
  EXPECTED_ANSWERS,
  PACKAGE_TEMPLATES,
  TEMPLATE_FORMS,
  templateValues,
} from './conversation-templates.ts'
import { partView } from './form-view.ts'

const by = { organizationId: 'org_seats', agentId: 'agent_seats' }
const to = { organizationId: 'org_cars', agentId: 'agent_cars' }
const now = new Date('2026-03-04T08:00:00Z')
const policy = newObject('policy_envelope', { by, to: to.organizationId, now })
const fields = {
  'business_context.time_horizon': 'weeks 12 to 14',
  'business_context.scope.0.name': 'part_family',
  'business_context.scope.0.value': 'seat rails',
  summary: 'Coil is short.',
  'facts.0.statement': 'One delivery was late.',
  'facts.0.evidence_refs': 'ev_notice',
  'facts.0.sensitivity': 'internal',
  drivers: 'one supplier\ntwo shifts',
  confidence: '0.8',
  confidence_basis: 'stock count',
  ask: 'Confirm the priority.',
  deadline: '2026-03-10',
  'expected.agree': 'on',
  not_disclosed: 'prices',
}

for (const template of PACKAGE_TEMPLATES)
  test(`[OBJ-05] the template ${template} makes the package that a program would make`, () => {
    const form = TEMPLATE_FORMS[template]
    const has = (name: (typeof form.fields)[number]) => form.fields.includes(name)
    const values = { ...Object.fromEntries(templateValues(template)), ...fields }
    const terms = { template, by, now, policy, to, thread: 'thread_coil' }
    const made = packageFrom(new URLSearchParams(values), terms)
    assert.deepEqual(validateObject(made).failures, [])
    const written = makersOf(() => ({ by, now, policy })).reasoningPackage({
      to,
      thread: 'thread_coil',
      package_type: template,
      summary: 'Coil is short.',
      facts: [
        {
          statement: 'One delivery was late.',
          evidence_refs: ['ev_notice'],
          sensitivity: 'internal',
          fact_id: made.facts[0]?.fact_id ?? '',
        },
      ],
      ask: 'Confirm the priority.',
      ...(has('drivers') && { drivers: ['one supplier', 'two shifts'] }),
      ...(has('confidence') && { confidence: { score: 0.8, basis: 'stock count' } }),
      business_context: {
        domain: form.domain,
        use_case: form.useCase,
        time_horizon: 'weeks 12 to 14',
        affected_scope: { part_family: 'seat rails' },
      },
      boundaries: {
        disclosure_level: 'aggregated',
        not_disclosed: ['prices'],
        retention_days: 30,
        forwarding_allowed: false,
      },
      response_required: {
        required: true,
        deadline: '2026-03-10T23:59:59Z',
        expected_response_types: EXPECTED_ANSWERS.filter(
          (each) => each === 'agree' || form.expected.includes(each),
        ),
      },
    })
    assert.deepEqual(made, { ...written, id: made.id, trace: made.trace })
  })

test('each template has fields, expected answers and defaults of its own', () => {
  const forms = PACKAGE_TEMPLATES.map((template) => TEMPLATE_FORMS[template])
  assert.equal(new Set(forms.map(({ domain }) => domain)).size, 6)
  const names = (template: (typeof PACKAGE_TEMPLATES)[number]) =>
    conversationParts(template, []).map(({ name }) => name)
  assert.ok(names('demand_change_reasoning').includes('drivers'))
  assert.ok(!names('priority_decision_request').includes('confidence'))
  assert.equal(templateValues('priority_decision_request').get('expected.request_human_decision'), 'on')
  assert.equal(templateValues('network_story_update').get('expected.request_human_decision'), null)
})

test('the templates are the six package types of the protocol', () => {
  for (const package_type of PACKAGE_TEMPLATES)
    assert.ok(validateObject({ ...exampleObjects.reasoning_package, package_type }).valid)
  assert.equal(new Set(PACKAGE_TEMPLATES).size, 6)
})

test('the recipient is chosen or named, and ids of partners are escaped', () => {
  assert.deepEqual(recipientFrom(new URLSearchParams({ 'to.known': 'org_cars agent_cars' })), to)
  assert.deepEqual(
    recipientFrom(new URLSearchParams({ 'to.organization': ' org_cars ', 'to.agent': 'agent_cars' })),
    to,
  )
  assert.equal(recipientFrom(new URLSearchParams({ 'to.organization': 'org_cars' })), undefined)
  const hostile = { organizationId: '"><img src=x>', agentId: 'agent' }
  const values = { fields: new URLSearchParams(), errors: new Map<string, string>() }
  const shown = conversationParts(PACKAGE_TEMPLATES[0], [hostile]).map((part) =>
    String(partView('f', part, values)),
  )
  assert.doesNotMatch(shown.join(''), /<img/u)
})
