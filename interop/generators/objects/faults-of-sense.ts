import { type Fault, faultOf, type FaultyValue } from './mutation.ts'

const EARLIER = '2026-03-02T08:30:00+01:00'

const VALUES: readonly FaultyValue[] = [
  ['OBJ-11', 'score-below', 'reasoning_package', '/confidence/score', -0.01, 'A score below 0.'],
  ['OBJ-11', 'score-above', 'reasoning_package', '/confidence/score', 1.01, 'A score above 1.'],
  [
    'OBJ-12',
    'same-evidence-twice',
    'reasoning_package',
    '/facts/0/evidence_refs',
    ['ev_a', 'ev_a'],
    'One piece of evidence twice.',
  ],
  [
    'OBJ-13',
    'deadline-before-creation',
    'reasoning_package',
    '/response_required/deadline',
    EARLIER,
    'An earlier instant that reads later.',
  ],
  [
    'OBJ-13',
    'next-update-a-nanosecond-early',
    'network_story',
    '/next_update',
    '2026-03-02T07:59:59.999999999Z',
    'A nanosecond before creation.',
  ],
  [
    'OBJ-14',
    'forwarding-denied-and-listed',
    'policy_envelope',
    '/forwarding/allowed_to',
    ['org_third'],
    'Forwarding is not allowed, and somebody is listed.',
  ],
  [
    'OBJ-15',
    'package-kept-for-no-day',
    'reasoning_package',
    '/boundaries/retention_days',
    0,
    'A retention of no day.',
  ],
  [
    'OBJ-15',
    'policy-kept-for-no-day',
    'policy_envelope',
    '/retention/duration_days',
    0,
    'A retention of no day.',
  ],
  [
    'OBJ-15',
    'negative-window',
    'policy_envelope',
    '/revocation/revocation_window_days',
    -1,
    'A revocation window below 0.',
  ],
  ['OBJ-15', 'story-version-zero', 'network_story', '/story_version', 0, 'A story version below 1.'],
  [
    'OBJ-16',
    'approval-id-empty',
    'reasoning_package',
    '/policy_envelope/human_approval/approval_id',
    '',
    'A required approval without its id.',
  ],
  [
    'OBJ-19',
    'local-time',
    'audit_event',
    '/created_at',
    '2026-03-02T09:00:00+01:00',
    'A creation time that is not UTC.',
  ],
  [
    'OBJ-19',
    'space-for-t',
    'audit_event',
    '/created_at',
    '2026-03-02 08:00:00Z',
    'A space where the T belongs.',
  ],
  [
    'OBJ-19',
    'impossible-day',
    'audit_event',
    '/occurred_at',
    '2026-02-30T08:00:00Z',
    'A day that does not exist.',
  ],
  [
    'OBJ-19',
    'no-offset',
    'network_story',
    '/next_update',
    '2026-03-09T08:00:00',
    'A time without an offset.',
  ],
]

/** Faults that take more than one value, or a value elsewhere. */
const OTHERS: readonly Fault[] = [
  {
    rule: 'OBJ-12',
    name: 'same-basis-twice',
    type: 'network_story',
    set: { '/basis_refs/1': { object_type: 'reasoning_package', object_id: 'pkg_seat_rails_1' } },
    pointer: '/basis_refs',
    description: 'One basis twice, its members in another order.',
  },
  {
    rule: 'OBJ-16',
    name: 'unrequired-approval-id-empty',
    type: 'reasoning_package',
    set: { '/policy_envelope/human_approval': { required: false, approval_id: '' } },
    pointer: '/policy_envelope/human_approval/approval_id',
    description: 'An approval id may not be empty even where no approval is required.',
  },
  {
    rule: 'OBJ-16',
    name: 'package-without-policy',
    type: 'reasoning_package',
    remove: '/policy_envelope',
    pointer: '/policy_envelope',
    description: 'A package without its policy envelope.',
  },
  {
    rule: 'OBJ-17',
    name: 'closed-and-still-responding',
    type: 'loop_thread',
    set: { '/phase': 'closed', '/lifecycle/allowed_next_phases': ['learned', 'responded'] },
    pointer: '/lifecycle/allowed_next_phases/1',
    description: 'A closed thread that lists responded as a next phase.',
  },
]

/** OBJ-11 to OBJ-19: well-formed objects that violate other rules. */
export const FAULTS_OF_SENSE: readonly Fault[] = [...VALUES.map(faultOf), ...OTHERS]
