import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ObjectType } from '../schema/shared.ts'
import { validateObject } from '../validation/validate-object.ts'
import { exampleObjects } from './examples.ts'

/** A copy of the example of a type with the value at a pointer replaced. */
function withValue(type: ObjectType, pointer: string, value: unknown): unknown {
  const copy = structuredClone(exampleObjects[type]) as Record<string, unknown>
  const path = pointer.split('/').slice(1)
  const last = path.pop() ?? ''
  let place: Record<string, unknown> = copy
  for (const member of path) place = place[member] as Record<string, unknown>
  place[last] = value
  return copy
}

type Case = [title: string, type: ObjectType, pointer: string, value: unknown]

const long = (prefix: string, tail: number) => `${prefix}_${'a'.repeat(tail)}`

const ACCEPTED: Case[] = [
  ['[OBJ-01] a tail of 128 characters', 'reasoning_package', '/id', long('pkg', 128)],
  [
    '[OBJ-01] where only a prefix is asked, nothing after it is',
    'reasoning_package',
    '/sender/organization_id',
    'org_',
  ],
  [
    '[OBJ-01] a prefix with any text',
    'reasoning_package',
    '/policy_envelope/policy_id',
    'pol_ anything, long or short',
  ],
  ['[OBJ-01] prefixes in lists', 'loop_thread', '/package_chain', ['pkg_']],
  ['[OBJ-02] an optional human', 'audit_event', '/created_by/human_id', 'user_ann'],
  [
    '[OBJ-05] no site_refs needed',
    'reasoning_package',
    '/sender',
    { organization_id: 'org_a', agent_id: 'agent_a' },
  ],
  ['[OBJ-05] members below the top are open', 'reasoning_package', '/intent/urgency', 'high'],
  ['[OBJ-05] a free object holds anything', 'reasoning_package', '/facts/0/value', { deep: [{ er: null }] }],
  [
    '[OBJ-06] items shown in use only are not checked',
    'response_object',
    '/constraints',
    [{ anything: 1 }, 'text'],
  ],
  [
    '[OBJ-06] a request shown in use only is not checked',
    'response_object',
    '/recipient_request',
    { deadline: 'soon' },
  ],
  ['[OBJ-07] actions beyond those in use', 'policy_envelope', '/allowed_actions', ['summarize']],
  ['[OBJ-08] an empty chain', 'loop_thread', '/package_chain', []],
  ['[OBJ-08] phases in words of the sender', 'loop_thread', '/lifecycle/allowed_next_phases', ['paused']],
  ['[OBJ-09] a version that is no integer', 'network_story', '/story_version', 1.5],
  ['[OBJ-10] a target of any kind', 'audit_event', '/target', { object_id: 'x', object_type: 'anything' }],
  ['[OBJ-11] a score of 0', 'reasoning_package', '/confidence/score', 0],
  ['[OBJ-11] a score of 1', 'reasoning_package', '/confidence/score', 1],
  [
    '[OBJ-13] a deadline at the very instant',
    'reasoning_package',
    '/response_required/deadline',
    '2026-03-02T09:00:00+01:00',
  ],
  [
    '[OBJ-13] a later instant that reads earlier',
    'reasoning_package',
    '/response_required/deadline',
    '2026-03-02T07:30:00-01:00',
  ],
  [
    '[OBJ-14] forwarding allowed to somebody',
    'policy_envelope',
    '/forwarding',
    { allowed: true, allowed_to: ['org_a'] },
  ],
  ['[OBJ-14] forwarding not allowed, nobody listed', 'policy_envelope', '/forwarding', { allowed: false }],
  ['[OBJ-15] one day', 'reasoning_package', '/boundaries/retention_days', 1],
  ['[OBJ-15] no revocation window', 'policy_envelope', '/revocation/revocation_window_days', 0],
  ['[OBJ-16] a policy may have an empty approval_id', 'policy_envelope', '/human_approval/approval_id', ''],
  ['[OBJ-17] closed with other next phases', 'loop_thread', '/phase', 'closed'],
  ['[OBJ-17] any phase may list responded', 'loop_thread', '/lifecycle/allowed_next_phases', ['responded']],
  ['[OBJ-19] UTC written as +00:00', 'audit_event', '/created_at', '2026-03-02T08:00:00.123456+00:00'],
  ['[OBJ-19] another offset in a date-time', 'audit_event', '/occurred_at', '2026-03-02T08:00:00-05:30'],
]

const REFUSED: [...Case, rule: string][] = [
  ['[OBJ-01] a tail of 129 characters', 'reasoning_package', '/id', long('pkg', 129), 'OBJ-01'],
  ['[OBJ-01] a tail that starts with _', 'reasoning_package', '/id', 'pkg__a', 'OBJ-01'],
  ['[OBJ-01] the prefix of another type', 'reasoning_package', '/id', 'resp_a', 'OBJ-01'],
  ['[OBJ-01] a line break at the end', 'reasoning_package', '/thread_id', 'thread_a\n', 'OBJ-01'],
  ['[OBJ-01] another protocol version', 'network_story', '/protocol_version', 'svc/1.1', 'OBJ-01'],
  ['[OBJ-01] a schema version of two parts', 'network_story', '/schema_version', '1.0', 'OBJ-01'],
  [
    '[OBJ-01] no prefix where one is asked',
    'reasoning_package',
    '/recipients/0/organization_id',
    'acme',
    'OBJ-01',
  ],
  ['[OBJ-02] an unknown member of created_by', 'audit_event', '/created_by/team', 'x', 'OBJ-02'],
  ['[OBJ-02] an unknown member of trace', 'audit_event', '/trace/span', 'x', 'OBJ-02'],
  ['[OBJ-02] a correlation id without its prefix', 'audit_event', '/trace/correlation_id', 'abc', 'OBJ-01'],
  ['[OBJ-03] an unknown object type', 'audit_event', '/object_type', 'audit_entry', 'OBJ-03'],
  ['[OBJ-05] a package type beyond the six', 'reasoning_package', '/package_type', 'forecast', 'OBJ-05'],
  ['[OBJ-05] no recipients', 'reasoning_package', '/recipients', [], 'OBJ-05'],
  ['[OBJ-05] no facts', 'reasoning_package', '/facts', [], 'OBJ-05'],
  ['[OBJ-05] no evidence', 'reasoning_package', '/facts/0/evidence_refs', [], 'OBJ-05'],
  ['[OBJ-05] a sensitivity beyond the four', 'reasoning_package', '/facts/0/sensitivity', 'secret', 'OBJ-05'],
  [
    '[OBJ-05] a list where a free object belongs',
    'reasoning_package',
    '/business_context/affected_scope',
    [],
    'OBJ-05',
  ],
  ['[OBJ-06] an action beyond the nine', 'response_object', '/response_actions', ['ignore'], 'OBJ-06'],
  ['[OBJ-06] no action', 'response_object', '/response_actions', [], 'OBJ-06'],
  ['[OBJ-06] an answer to no package', 'response_object', '/responds_to_package_id', 'resp_a', 'OBJ-01'],
  ['[OBJ-07] no allowed recipient', 'policy_envelope', '/allowed_recipients', [], 'OBJ-07'],
  [
    '[OBJ-08] one participant',
    'loop_thread',
    '/participants',
    [{ organization_id: 'org_a', role: 'x' }],
    'OBJ-08',
  ],
  ['[OBJ-08] a phase beyond the nine', 'loop_thread', '/phase', 'paused', 'OBJ-08'],
  ['[OBJ-09] a basis with more members', 'network_story', '/basis_refs/0/note', 'x', 'OBJ-09'],
  ['[OBJ-09] no basis', 'network_story', '/basis_refs', [], 'OBJ-09'],
  ['[OBJ-10] an event type beyond the eleven', 'audit_event', '/event_type', 'package_lost', 'OBJ-10'],
  ['[OBJ-11] a score below 0', 'reasoning_package', '/confidence/score', -0.01, 'OBJ-11'],
  ['[OBJ-11] a score above 1', 'reasoning_package', '/confidence/score', 1.01, 'OBJ-11'],
  [
    '[OBJ-12] the same evidence twice',
    'reasoning_package',
    '/facts/0/evidence_refs',
    ['ev_a', 'ev_a'],
    'OBJ-12',
  ],
  ['[OBJ-12] the same basis twice', 'network_story', '/basis_refs', [basis(), basis()], 'OBJ-12'],
  [
    '[OBJ-13] a deadline before creation',
    'reasoning_package',
    '/response_required/deadline',
    '2026-03-02T08:30:00+01:00',
    'OBJ-13',
  ],
  [
    '[OBJ-13] a nanosecond too early',
    'network_story',
    '/next_update',
    '2026-03-02T07:59:59.999999999Z',
    'OBJ-13',
  ],
  [
    '[OBJ-14] nobody may get it, and somebody is listed',
    'policy_envelope',
    '/forwarding/allowed_to',
    ['org_a'],
    'OBJ-14',
  ],
  ['[OBJ-15] a package kept for no day', 'reasoning_package', '/boundaries/retention_days', 0, 'OBJ-15'],
  ['[OBJ-15] a policy kept for no day', 'policy_envelope', '/retention/duration_days', 0, 'OBJ-15'],
  ['[OBJ-15] a window below 0', 'policy_envelope', '/revocation/revocation_window_days', -1, 'OBJ-15'],
  ['[OBJ-15] a version below 1', 'network_story', '/story_version', 0, 'OBJ-15'],
  [
    '[OBJ-16] a required approval without id',
    'reasoning_package',
    '/policy_envelope/human_approval/approval_id',
    '',
    'OBJ-16',
  ],
  [
    '[OBJ-16] an unrequired approval without id',
    'reasoning_package',
    '/policy_envelope/human_approval',
    { required: false, approval_id: '' },
    'OBJ-16',
  ],
  ['[OBJ-19] created_at in local time', 'audit_event', '/created_at', '2026-03-02T09:00:00+01:00', 'OBJ-19'],
  ['[OBJ-19] created_at with a space', 'audit_event', '/created_at', '2026-03-02 08:00:00Z', 'OBJ-19'],
  ['[OBJ-19] created_at with a small t', 'audit_event', '/created_at', '2026-03-02t08:00:00Z', 'OBJ-19'],
  ['[OBJ-19] created_at at -00:00', 'audit_event', '/created_at', '2026-03-02T08:00:00-00:00', 'OBJ-19'],
  ['[OBJ-19] a day that does not exist', 'audit_event', '/occurred_at', '2026-02-30T08:00:00Z', 'OBJ-19'],
  ['[OBJ-19] a time without offset', 'audit_event', '/occurred_at', '2026-03-02T08:00:00', 'OBJ-19'],
]

function basis() {
  return { object_id: 'pkg_a', object_type: 'reasoning_package' }
}

describe('the rules accept', () => {
  for (const [title, type, pointer, value] of ACCEPTED) {
    test(title, () => assert.deepEqual(validateObject(withValue(type, pointer, value)).failures, []))
  }
})

describe('the rules refuse', () => {
  for (const [title, type, pointer, value, rule] of REFUSED) {
    test(title, () => {
      const { failures } = validateObject(withValue(type, pointer, value))
      assert.equal(failures.length, 1, JSON.stringify(failures))
      assert.equal(failures[0]?.rule, rule)
      assert.ok(failures[0]?.pointer.startsWith(pointer), failures[0]?.pointer)
    })
  }
})

test('[OBJ-16] a package without policy_envelope is refused under OBJ-16', () => {
  const { policy_envelope: _removed, ...rest } = exampleObjects.reasoning_package
  assert.deepEqual(
    validateObject(rest).failures.map(({ rule }) => rule),
    ['OBJ-16'],
  )
})

test('[OBJ-17] a closed thread that allows responded is refused, and no other combination', () => {
  const closed = withValue('loop_thread', '/phase', 'closed') as Record<string, unknown>
  const thread = (next: string[]) => ({
    ...closed,
    lifecycle: { allowed_next_phases: next, audit_event_ids: [] },
  })
  assert.deepEqual(
    validateObject(thread(['learned', 'responded'])).failures.map(({ rule, pointer }) => [rule, pointer]),
    [['OBJ-17', '/lifecycle/allowed_next_phases/1']],
  )
  for (const next of ['observed', 'shared', 'aligned', 'closed', 'anything']) {
    assert.deepEqual(validateObject(thread([next])).failures, [])
  }
})
