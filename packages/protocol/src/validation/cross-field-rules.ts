import { isEarlier } from '../instants.ts'
import type { ObjectType } from '../schema/shared.ts'
import type { DeploymentProfile } from '../profile/profile.ts'
import { pointerTo, type Failure } from './failure.ts'

/** A rule over several members, which JSON Schema cannot say. It judges only members that are well-formed. */
interface CrossFieldRule {
  readonly rule: string
  readonly appliesTo: ObjectType
  readonly breaches: (object: Members, profile: DeploymentProfile) => Omit<Failure, 'rule'>[]
}

type Members = Readonly<Record<string, unknown>>

const CROSS_FIELD_RULES: readonly CrossFieldRule[] = [
  {
    rule: 'OBJ-13',
    appliesTo: 'reasoning_package',
    breaches: ({ created_at, response_required }) =>
      notEarlier('/response_required/deadline', membersOf(response_required)['deadline'], created_at),
  },
  {
    rule: 'OBJ-13',
    appliesTo: 'network_story',
    breaches: ({ created_at, next_update }) => notEarlier('/next_update', next_update, created_at),
  },
  {
    rule: 'OBJ-14',
    appliesTo: 'policy_envelope',
    breaches: ({ forwarding }) => {
      const { allowed, allowed_to } = membersOf(forwarding)
      if (allowed !== false || listOf(allowed_to).length === 0) return []
      const message =
        'Empty this list or set "allowed" to true: what may not be forwarded has nobody to go to.'
      return [{ pointer: '/forwarding/allowed_to', message }]
    },
  },
  {
    rule: 'OBJ-17',
    appliesTo: 'loop_thread',
    breaches: ({ phase, lifecycle }) =>
      contradicted(lifecycle, (next) => phase === 'closed' && next === 'responded'),
  },
  {
    rule: 'O-01',
    appliesTo: 'loop_thread',
    breaches: ({ phase, lifecycle }, profile) =>
      contradicted(lifecycle, (next) =>
        profile['O-01'].contradictions.some((pair) => pair.phase === phase && pair.next === next),
      ),
  },
]

export function crossFieldFailures(type: ObjectType, object: Members, profile: DeploymentProfile): Failure[] {
  return CROSS_FIELD_RULES.filter((rule) => rule.appliesTo === type).flatMap(({ rule, breaches }) =>
    breaches(object, profile).map((breach) => ({ ...breach, rule })),
  )
}

function notEarlier(pointer: string, time: unknown, created: unknown): Omit<Failure, 'rule'>[] {
  if (isEarlier(time, created) !== true) return []
  return [
    {
      pointer,
      message: 'Use a time that is not earlier than created_at; offsets count, so compare instants.',
    },
  ]
}

function contradicted(lifecycle: unknown, contradicts: (next: unknown) => boolean): Omit<Failure, 'rule'>[] {
  return listOf(membersOf(lifecycle)['allowed_next_phases']).flatMap((next, index) =>
    contradicts(next)
      ? [
          {
            pointer: pointerTo('/lifecycle/allowed_next_phases', index),
            message: 'Remove this phase: it cannot follow the phase that the thread is in.',
          },
        ]
      : [],
  )
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
