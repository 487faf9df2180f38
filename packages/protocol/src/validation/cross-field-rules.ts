import { isEarlier } from '../instants.ts'
import type { ObjectType } from '../schema/shared.ts'
import type { DeploymentProfile } from '../profile/profile.ts'
import { MAXIMUM_FAILURES, pointerTo, type Failure } from './failure.ts'

/**
 * A rule between members that JSON Schema cannot express, because it compares times or belongs to the deployment. It
 * checks only well-formed members.
 */
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
    rule: 'O-01',
    appliesTo: 'loop_thread',
    breaches: ({ phase, lifecycle }, profile) => {
      const pairs = profile['O-01'].contradictions.filter((pair) => pair.phase === phase)
      return contradicted(lifecycle, new Set(pairs.map(({ next }) => next)))
    },
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
      message: 'Use a time that is not earlier than created_at, compared as instants.',
    },
  ]
}

function contradicted(lifecycle: unknown, impossible: ReadonlySet<unknown>): Omit<Failure, 'rule'>[] {
  const message = 'Remove this phase: it cannot follow the current phase of the thread.'
  const found: Omit<Failure, 'rule'>[] = []
  for (const [index, next] of listOf(membersOf(lifecycle)['allowed_next_phases']).entries()) {
    if (found.length === MAXIMUM_FAILURES) break
    if (impossible.has(next)) {
      found.push({ pointer: pointerTo('/lifecycle/allowed_next_phases', index), message })
    }
  }
  return found
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
