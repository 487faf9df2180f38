import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DEFAULT_PROFILE,
  exampleObjects,
  POLICY_CHECK_IDS,
  type AgentResource,
  type PolicyEnvelope,
  type ReasoningPackage,
} from '@agent-exchange/protocol'
import fc from 'fast-check'
import { evaluatePolicy } from './evaluate-policy.ts'
import { SENSITIVITIES, type PolicySubject } from './policy-check.ts'
import { prohibitedMembers } from './prohibited-fields.ts'

const { reasoning_package: object, policy_envelope: policy, response_object: response } = exampleObjects
const [recipientOrg = ''] = policy.allowed_recipients
const recipient = { organizationId: recipientOrg, agentId: 'agent_carmaker_supply' }
const recipientAgent: AgentResource = {
  organization_id: recipient.organizationId,
  agent_id: recipient.agentId,
  implementation: 'x',
  implementation_version: '1',
  protocol_versions: ['svc/1.0'],
  skill_versions: { skill_a: '1.0.0' },
  transport_modes: ['native'],
  keys: [],
  status: 'active',
  registered_at: '2026-01-01T00:00:00Z',
  certification_status: 'uncertified',
}

const subject = (change: Partial<PolicySubject> = {}): PolicySubject => ({
  object,
  policy,
  recipient,
  recipientAgent,
  skill: { id: 'skill_a', version: '1.0.0' },
  evaluatedAt: '2026-03-02T08:00:00Z',
  ...change,
})
const withPolicy = (change: Partial<PolicyEnvelope>) => subject({ policy: { ...policy, ...change } })
const withObject = (change: Partial<ReasoningPackage>) => subject({ object: { ...object, ...change } })

function failed(of: PolicySubject): string[] {
  return evaluatePolicy(of)
    .checks.filter(({ passed }) => !passed)
    .map(({ checkId }) => checkId)
}

test('[POL-02][O-34] the examples pass all five checks, once each, in order; the profile says what each examines', () => {
  for (const id of POLICY_CHECK_IDS) assert.equal(DEFAULT_PROFILE['O-34'][id], 'sdk')
  const { passed, checks, approvalRequired } = evaluatePolicy(subject())
  assert.ok(passed)
  assert.ok(approvalRequired)
  assert.deepEqual(
    checks.map(({ checkId }) => checkId),
    POLICY_CHECK_IDS,
  )
})

const BREACHES: Record<string, [PolicySubject, string]> = {
  'an unknown policy': [
    withObject({ policy_envelope: { ...object.policy_envelope, policy_id: 'pol_other' } }),
    'object_schema',
  ],
  'another purpose': [
    withObject({ policy_envelope: { ...object.policy_envelope, purpose: 'marketing' } }),
    'object_schema',
  ],
  'a recipient without the protocol version': [
    subject({ recipientAgent: { ...recipientAgent, protocol_versions: ['svc/2.0'] } }),
    'skill_profile',
  ],
  'a recipient without the skill': [
    subject({ recipientAgent: { ...recipientAgent, skill_versions: {} } }),
    'skill_profile',
  ],
  'a skill named like something every object has': [
    subject({ skill: { id: 'toString', version: '1' } }),
    'skill_profile',
  ],
  'another version of the skill': [subject({ skill: { id: 'skill_a', version: '2.0.0' } }), 'skill_profile'],
  'a release that has to be known': [subject({ releaseRequired: true }), 'skill_profile'],
  'a prohibited field': [
    withObject({ facts: object.facts.map((fact) => ({ ...fact, value: { list: [{ unit_price: 1 }] } })) }),
    'prohibited_disclosure',
  ],
  'a field that cannot be read': [
    withPolicy({ granularity: { ...policy.granularity, prohibited_fields: ['/bad~2'] } }),
    'prohibited_disclosure',
  ],
  'a finer level': [
    withObject({ boundaries: { ...object.boundaries, disclosure_level: 'detailed' } }),
    'prohibited_disclosure',
  ],
  'a fact above the limit': [
    subject({ settings: { maximumSensitivity: 'internal' } }),
    'prohibited_disclosure',
  ],
  'a recipient that the policy does not name': [
    withPolicy({ allowed_recipients: ['org_other'] }),
    'recipient_authorization',
  ],
  'a recipient that the object does not name': [
    withObject({ recipients: [{ organization_id: 'org_other', role: 'r', required: true }] }),
    'recipient_authorization',
  ],
  'an agent of somebody else': [
    subject({ recipientAgent: { ...recipientAgent, organization_id: 'org_other' } }),
    'recipient_authorization',
  ],
  'a response that is wanted and not allowed': [
    withPolicy({ allowed_actions: ['read'] }),
    'recipient_authorization',
  ],
  'a longer retention': [
    withObject({ boundaries: { ...object.boundaries, retention_days: 91 } }),
    'retention_and_forwarding',
  ],
  'forwarding that is not allowed': [
    withObject({ boundaries: { ...object.boundaries, forwarding_allowed: true } }),
    'retention_and_forwarding',
  ],
  'an end beyond the retention': [subject({ expiresAt: '2026-06-01T08:00:00Z' }), 'retention_and_forwarding'],
  'an end in the past': [subject({ expiresAt: '2026-03-02T07:00:00Z' }), 'retention_and_forwarding'],
}

for (const [name, [breach, check]] of Object.entries(BREACHES)) {
  test(`[POL-03] ${name} fails ${check}, with a reason`, () => {
    const result = evaluatePolicy(breach)
    assert.equal(result.passed, false)
    assert.ok(failed(breach).includes(check))
    if (check !== 'object_schema') assert.deepEqual(failed(breach), [check])
    const found = result.checks.find(({ checkId }) => checkId === check)
    assert.ok(
      found?.failures.every(({ message, pointer }) => message.endsWith('.') && typeof pointer === 'string'),
    )
  })
}

test('[POL-03] an invalid object fails every check, and nothing throws over its shape', () => {
  const broken = subject({ object: { object_type: 'reasoning_package' } as never, policy: null as never })
  assert.deepEqual(failed(broken), [...POLICY_CHECK_IDS])
  assert.equal(evaluatePolicy(broken).approvalRequired, false)
})

test('levels that are put in order are compared by it', () => {
  const settings = { disclosureLevels: ['summary', 'aggregated', 'detailed'] }
  const level = (disclosure_level: string) => ({
    ...withObject({ boundaries: { ...object.boundaries, disclosure_level } }),
    settings,
  })
  assert.deepEqual(failed(level('summary')), [])
  assert.deepEqual(failed(level('detailed')), ['prohibited_disclosure'])
  assert.deepEqual(failed(level('unheard of')), ['prohibited_disclosure'])
})

test('a level that is a word for sensitivity limits facts, added ones of a response too', () => {
  for (const [index, sensitivity] of SENSITIVITIES.entries()) {
    for (const [limit, level] of SENSITIVITIES.entries()) {
      const granularity = { level, prohibited_fields: [] }
      const boundaries = { disclosure_level: level, not_disclosed: [] }
      const facts = object.facts.map((fact) => ({ ...fact, sensitivity }))
      const expected = index > limit ? ['prohibited_disclosure'] : []
      const sent = subject({
        policy: { ...policy, granularity },
        object: { ...object, facts, boundaries: { ...object.boundaries, ...boundaries } },
      })
      assert.deepEqual(failed(sent), expected)
      const answered = subject({
        policy: { ...policy, granularity },
        object: { ...response, added_facts: facts, boundaries },
      })
      assert.deepEqual(failed(answered), expected)
    }
  }
})

const nameOf = fc.stringMatching(/^[a-z]{3,8}(?:_[a-z]{2,6})?$/)
const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<never>

test('a prohibited name is found wherever it hides, however its words are joined', () => {
  const spelled = (name: string) => [
    name,
    name.toUpperCase(),
    name.replaceAll('_', '-'),
    name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
  ]
  fc.assert(
    fc.property(
      nameOf,
      fc.array(fc.oneof(nameOf, fc.nat({ max: 3 })), { maxLength: 4 }),
      fc.nat({ max: 3 }),
      json,
      (name, way, spelling, value) => {
        const written = spelled(name)[spelling] ?? name
        const inner: object = { [written]: value }
        const document = way.reduceRight<object>(
          (below, step) =>
            typeof step === 'number' ? Array.from({ length: step + 1 }, () => below) : { [step]: below },
          inner,
        )
        const found = prohibitedMembers(document as never, [name])
        assert.ok(found.some((pointer) => pointer.endsWith(`/${written}`)))
        const names = way.filter((step) => typeof step === 'string')
        const [path, pointer] = [
          [...names, name].join('.'),
          `/${[...way.map((step) => (typeof step === 'number' ? '*' : step)), name].join('/')}`,
        ]
        assert.ok(prohibitedMembers(document as never, [path]).length > 0, path)
        assert.ok(prohibitedMembers(document as never, [pointer]).length > 0, pointer)
      },
    ),
  )
})

test('what is not there is not found, and text is never taken for a name', () => {
  fc.assert(
    fc.property(json, (value) => {
      assert.deepEqual(prohibitedMembers(value, ['absent_from_everything', 'a.b.absent', '/absent/x']), [])
    }),
  )
  assert.deepEqual(prohibitedMembers({ note: 'unit_price', list: ['unit_price'] }, ['unit_price']), [])
  assert.deepEqual(prohibitedMembers({ 'a/b': { 'm~n': 1 } }, ['/a~1b/m~0n']), ['/a~1b/m~0n'])
  assert.deepEqual(prohibitedMembers({ 'unit.price': 1 }, ['unit.price']), ['/unit.price'])
  assert.deepEqual(prohibitedMembers({ a: { b: 1 }, b: 2 }, ['a.b']), ['/a/b'])
})

test('retention and end are compared as numbers and instants, for any values', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 1, max: 400, noNaN: true }),
      fc.double({ min: 1, max: 400, noNaN: true }),
      fc.boolean(),
      fc.boolean(),
      (asked, allowed, forwarding_allowed, forwarding) => {
        const of = subject({
          object: {
            ...object,
            boundaries: { ...object.boundaries, retention_days: asked, forwarding_allowed },
          },
          policy: { ...policy, retention: { duration_days: allowed }, forwarding: { allowed: forwarding } },
        })
        const isFine = asked <= allowed && (!forwarding_allowed || forwarding)
        assert.deepEqual(failed(of), isFine ? [] : ['retention_and_forwarding'])
      },
    ),
  )
})
