import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateObject, type ProtocolObject } from '@agent-exchange/protocol'
import { makersOf } from './makers.ts'
import { placeholderWarnings } from './placeholders.ts'

const author = {
  by: { organizationId: 'org_seats', agentId: 'agent_seats' },
  now: new Date('2026-06-01T08:00:00Z'),
}
const make = makersOf(() => author)
const policy = make.policyEnvelope({
  to: ['org_cars', { organizationId: 'org_steel' }],
  purpose: 'capacity alignment',
  retention: { duration_days: 7 },
})
const underPolicy = makersOf(() => ({ ...author, policy }))
const thread = 'thread_week_12'
const content = { to: 'org_cars', summary: 'Rails are short.', facts: ['A press is down.'], ask: 'Confirm.' }

const MADE: Readonly<Record<ProtocolObject['object_type'], ProtocolObject>> = {
  policy_envelope: policy,
  reasoning_package: underPolicy.reasoningPackage(content),
  response_object: underPolicy.responseObject({
    to: { packageId: 'pkg_1', threadId: thread },
    summary: 'We challenge the date.',
    actions: ['challenge'],
  }),
  loop_thread: make.loopThread({ to: ['org_cars', 'org_steel'], thread, phase: 'shared' }),
  network_story: make.networkStory({ thread, summary: 'Rails arrive in week 13.', about: ['pkg_1'] }),
  audit_event: make.auditEvent({ thread, about: 'pkg_1', decision: 'Shift one week.' }),
}

for (const [type, object] of Object.entries(MADE)) {
  test(`[OBJ-18] the maker of ${type} writes a valid object without placeholder sentences`, () => {
    assert.equal(object.object_type, type)
    assert.deepEqual(validateObject(object).failures, [])
    assert.deepEqual(placeholderWarnings(object), [])
  })
}

test('a package takes policy, retention and approval from its policy, which replaces that of the agent', () => {
  const approved = { ...policy, human_approval: { required: true, approval_id: '' } }
  const other = make.policyEnvelope({ to: 'org_cars', purpose: 'other' })
  const object = makersOf(() => ({ ...author, policy: other })).reasoningPackage({
    ...content,
    policy: approved,
  })
  assert.deepEqual(object.policy_envelope, {
    policy_id: policy.policy_id,
    purpose: 'capacity alignment',
    human_approval: { required: true, approval_id: 'none' },
  })
  assert.equal(object.boundaries.retention_days, 7)
})

test('members of the schema replace defaults, and a fact keeps what it has', () => {
  const object = make.reasoningPackage({
    ...content,
    to: [{ organizationId: 'org_cars' }, 'org_steel'],
    facts: [{ statement: 'Public.', sensitivity: 'public', fact_id: 'fact_1' }],
    thread,
    package_type: 'capacity_response',
    confidence: { score: 0.9, basis: 'Measured.' },
  })
  assert.deepEqual(validateObject(object).failures, [])
  assert.deepEqual(
    object.recipients.map(({ organization_id }) => organization_id),
    ['org_cars', 'org_steel'],
  )
  assert.equal(object.thread_id, thread)
  assert.equal(object.package_type, 'capacity_response')
  assert.deepEqual(object.confidence, { score: 0.9, basis: 'Measured.' })
  const [fact] = object.facts
  assert.deepEqual([fact?.fact_id, fact?.sensitivity], ['fact_1', 'public'])
})

test('[OBJ-18] an object that its schema refuses is refused, whatever the maker was given', () => {
  assert.notDeepEqual(validateObject(make.reasoningPackage({ ...content, facts: [] })).failures, [])
  assert.notDeepEqual(validateObject(make.policyEnvelope({ to: [], purpose: 'none' })).failures, [])
})
