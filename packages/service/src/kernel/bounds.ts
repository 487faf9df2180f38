import type { JsonValue } from '@agent-exchange/crypto'
import {
  STORED_JWK_MEMBERS,
  FREE_TEXT_MEMBERS,
  MAXIMUM_FAILURES,
  pointerTo,
  RESOURCE_ID_MEMBERS,
  type DeploymentProfile,
  type Failure,
} from '@agent-exchange/protocol'
import { Problem } from './problem.ts'

type Limits = DeploymentProfile['O-14']

/** RFC 6901 pointers and their values. */
type Placed<Value> = readonly (readonly [pointer: string, value: Value])[]

interface Bounded {
  readonly identifiers?: Placed<string | undefined>
  readonly texts?: Placed<string>
  readonly lists?: Placed<number>
}

/** O-14: limits of identifiers, strings and lists, and no character that PostgreSQL cannot store. */
export function assertBounds(profile: DeploymentProfile, { identifiers, texts, lists }: Bounded): void {
  const { identifier_characters, text_characters, list_items } = profile['O-14']
  const failures: Failure[] = [
    ...(identifiers ?? []).flatMap(([pointer, text]) => textFailures(pointer, text, identifier_characters)),
    ...(texts ?? []).flatMap(([pointer, text]) => textFailures(pointer, text, text_characters)),
    ...(lists ?? []).flatMap(([pointer, length]) =>
      length > list_items ? [failure(pointer, `List at most ${list_items} entries.`)] : [],
    ),
  ]
  if (failures.length > 0) throw new Problem('validation_failed', { failures })
}

/** Members whose member names the caller chooses. Such a name is content and never appears in an answer. */
const MAPS = new Set(['skill_versions'])

/** O-14 for every string of a document that passed its schema. `assertJsonLimits` has checked its lists. */
export function boundFailures(value: JsonValue, profile: DeploymentProfile, pointer = ''): Failure[] {
  // Almost every document passes: pointers are computed only for the others.
  if (isSmall(value, profile['O-14'])) return []
  const found: Failure[] = []
  collect(value, pointer, profile['O-14'], found)
  return found
}

/** Whether every string is within the smallest limit. */
function isSmall(value: JsonValue, limits: Limits): boolean {
  if (typeof value === 'string') return value.length <= smallest(limits) && isStorable(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every((item) => isSmall(item, limits))
  return Object.entries(value).every(([name, inner]) => isSmall(name, limits) && isSmall(inner, limits))
}

function smallest({ identifier_characters, resource_id_characters, text_characters }: Limits): number {
  return Math.min(identifier_characters, resource_id_characters, text_characters)
}

function maximumOf(member: string, limits: Limits): number {
  if (RESOURCE_ID_MEMBERS.has(member)) return limits.resource_id_characters
  return FREE_TEXT_MEMBERS.has(member) ? limits.text_characters : limits.identifier_characters
}

function collect(value: JsonValue, pointer: string, limits: Limits, found: Failure[]): void {
  if (found.length >= MAXIMUM_FAILURES) return
  const member = pointer.slice(pointer.lastIndexOf('/') + 1)
  if (typeof value === 'string') {
    found.push(...textFailures(pointer, value, maximumOf(member, limits)))
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (member === 'public_key' && !STORED_JWK_MEMBERS.has(name)) continue
    if (MAPS.has(member)) collect(name, pointer, limits, found)
    collect(inner, MAPS.has(member) ? pointer : pointerTo(pointer, name), limits, found)
  }
}

/** Length in code points, as JSON Schema counts it; `length` counts UTF-16 code units. */
export function isLongerThan(text: string, maximum: number): boolean {
  if (text.length <= maximum) return false
  return text.length > 2 * maximum || Array.from(text).length > maximum
}

/** PostgreSQL stores every character but NUL. */
export function isStorable(text: string): boolean {
  return !text.includes('\0')
}

function textFailures(pointer: string, text: string | undefined, maximum: number): Failure[] {
  if (text === undefined) return []
  if (isLongerThan(text, maximum)) return [failure(pointer, `Use at most ${maximum} characters.`)]
  return isStorable(text) ? [] : [failure(pointer, 'Leave out the null character.')]
}

function failure(pointer: string, message: string): Failure {
  return { pointer, rule: 'O-14', message }
}
