import { canonicalize, type JsonValue } from '@agent-exchange/crypto'
import type { Failure, ProtocolObject } from '@agent-exchange/protocol'
import {
  inObject,
  inPolicy,
  SENSITIVITIES,
  type PolicyCheck,
  type PolicySubject,
  type Sensitivity,
} from './policy-check.ts'
import { isReadableField, prohibitedMembers } from './prohibited-fields.ts'

const RULE = 'prohibited_disclosure'

/**
 * No prohibited member, no more detailed level than the policy grants, no fact that is too sensitive. Checks names and
 * the sender's own labels; it cannot check free text.
 */
export const checkProhibitedDisclosure: PolicyCheck = (subject) => [
  ...fieldFailures(subject),
  ...levelFailures(subject),
  ...sensitivityFailures(subject),
]

function fieldFailures({ object, policy }: PolicySubject): Failure[] {
  const { prohibited_fields: fields } = policy.granularity
  const unreadable = fields.flatMap((field, index) =>
    isReadableField(field)
      ? []
      : [inPolicy(`/granularity/prohibited_fields/${index}`, RULE, 'Write a name, a path or a pointer.')],
  )
  // As the recipient will parse it: without undefined members.
  const document = JSON.parse(canonicalize(object)) as JsonValue
  const present = prohibitedMembers(document, fields).map((pointer) =>
    inObject(pointer, RULE, 'Leave out this member: the policy prohibits it.'),
  )
  return [...unreadable, ...present]
}

function levelFailures({ object, policy, settings }: PolicySubject): Failure[] {
  if (object.object_type !== 'reasoning_package' && object.object_type !== 'response_object') return []
  const [level, allowed] = [object.boundaries.disclosure_level, policy.granularity.level]
  if (level === allowed) return []
  const order = settings?.disclosureLevels ?? []
  const [rank, limit] = [order.indexOf(level), order.indexOf(allowed)]
  if (rank >= 0 && limit >= 0 && rank <= limit) return []
  const message =
    rank >= 0 && limit >= 0
      ? 'Use a level that is not more detailed than the granularity of the policy.'
      : 'Use the level of the policy, or say in disclosureLevels how the two levels compare.'
  return [inObject('/boundaries/disclosure_level', RULE, message)]
}

function sensitivityFailures({ object, policy, settings }: PolicySubject): Failure[] {
  // A level that names a sensitivity limits the sensitivity of facts.
  const { level } = policy.granularity
  const limits = [settings?.maximumSensitivity, isSensitivity(level) ? level : undefined]
    .filter((limit) => limit !== undefined)
    .map((limit) => SENSITIVITIES.indexOf(limit))
  if (limits.length === 0) return []
  const highest = Math.min(...limits)
  return factsOf(object).flatMap(([pointer, sensitivity]) => {
    return rankOf(sensitivity) > highest
      ? [inObject(`${pointer}/sensitivity`, RULE, 'Leave out this fact: it is more sensitive than allowed.')]
      : []
  })
}

/** An unknown label has no rank, so it exceeds every limit. */
const rankOf = (label: unknown) =>
  isSensitivity(label) ? SENSITIVITIES.indexOf(label) : SENSITIVITIES.length

/** Whether a fact of the object is at least this sensitive, by the sender's own labels. */
export function hasSensitivity(object: ProtocolObject, least: Sensitivity): boolean {
  return factsOf(object).some(([, label]) => rankOf(label) >= SENSITIVITIES.indexOf(least))
}

function factsOf(object: ProtocolObject): [pointer: string, sensitivity: unknown][] {
  if (object.object_type === 'reasoning_package')
    return object.facts.map((fact, index) => [`/facts/${index}`, fact.sensitivity])
  if (object.object_type !== 'response_object') return []
  // Members of added facts appear "in use" only (O-34), so they may have any shape.
  return (object.added_facts ?? []).map((fact, index) => [
    `/added_facts/${index}`,
    typeof fact === 'object' && fact !== null ? Reflect.get(fact, 'sensitivity') : undefined,
  ])
}

function isSensitivity(word: unknown): word is Sensitivity {
  return (SENSITIVITIES as readonly unknown[]).includes(word)
}
