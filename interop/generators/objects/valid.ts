import { LONGEST_TAIL, type Mutation } from './mutation.ts'

/** Valid objects at the boundary of a rule. */
export const VALID: readonly Mutation[] = [
  { name: 'longest-id', type: 'reasoning_package', set: { '/id': `pkg_${LONGEST_TAIL}` } },
  { name: 'prefix-alone', type: 'reasoning_package', set: { '/sender/organization_id': 'org_' } },
  { name: 'created-by-a-human', type: 'audit_event', set: { '/created_by/human_id': 'user_ann' } },
  { name: 'open-below-the-top', type: 'reasoning_package', set: { '/intent/urgency': 'high' } },
  { name: 'response-items-are-free', type: 'response_object', set: { '/constraints': [{ anything: 1 }] } },
  { name: 'score-zero', type: 'reasoning_package', set: { '/confidence/score': 0 } },
  { name: 'score-one', type: 'reasoning_package', set: { '/confidence/score': 1 } },
  {
    name: 'deadline-at-the-instant-of-creation',
    type: 'reasoning_package',
    set: { '/response_required/deadline': '2026-03-02T09:00:00+01:00' },
  },
  {
    name: 'deadline-later-that-reads-earlier',
    type: 'reasoning_package',
    set: { '/response_required/deadline': '2026-03-02T07:30:00-01:00' },
  },
  {
    name: 'forwarding-allowed',
    type: 'policy_envelope',
    set: { '/forwarding': { allowed: true, allowed_to: ['org_third'] } },
  },
  { name: 'one-day', type: 'policy_envelope', set: { '/retention/duration_days': 1 } },
  { name: 'no-revocation-window', type: 'policy_envelope', set: { '/revocation/revocation_window_days': 0 } },
  { name: 'policy-without-approval-id', type: 'policy_envelope', set: { '/human_approval/approval_id': '' } },
  { name: 'closed-thread', type: 'loop_thread', set: { '/phase': 'closed' } },
  { name: 'utc-as-offset', type: 'audit_event', set: { '/created_at': '2026-03-02T08:00:00.123456+00:00' } },
  { name: 'occurred-elsewhere', type: 'audit_event', set: { '/occurred_at': '2026-03-02T02:30:00-05:30' } },
]
