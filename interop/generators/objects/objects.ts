import assert from 'node:assert/strict'
import { canonicalize } from '@agent-exchange/crypto'
import { exampleObjects, validateObject } from '@agent-exchange/protocol'
import type { InvalidObject } from '../../vector-file.ts'
import { FAULTS_OF_FORM } from './faults-of-form.ts'
import { FAULTS_OF_SENSE } from './faults-of-sense.ts'
import type { Mutation } from './mutation.ts'
import { VALID } from './valid.ts'

/** The six examples, and objects at the boundary of a rule. */
export function validObjects(): Map<string, object> {
  const objects = new Map<string, object>()
  for (const [type, object] of Object.entries(exampleObjects)) objects.set(type.replaceAll('_', '-'), object)
  for (const mutation of VALID) objects.set(mutation.name, mutated(mutation))
  for (const [name, object] of objects) assert.deepEqual(validateObject(object).failures, [], name)
  return objects
}

export function invalidObjects(): Map<string, InvalidObject> {
  const objects = new Map<string, InvalidObject>()
  for (const mutation of [...FAULTS_OF_FORM, ...FAULTS_OF_SENSE]) {
    const { rule, pointer, name, description } = mutation
    const object = mutated(mutation)
    // Exactly the expected fault, so that a failing reader knows which rule it lacks.
    const found = validateObject(object).failures.map((failure) => [failure.rule, failure.pointer])
    assert.deepEqual(found, [[rule, pointer]], name)
    objects.set(`${rule.toLowerCase()}-${name}`, { rule, pointer, description, object })
  }
  return objects
}

function mutated({ type, set = {}, remove }: Mutation): object {
  // Through JSON, because structuredClone preserves shared references (created_by and actor are one object).
  const copy: object = JSON.parse(canonicalize(exampleObjects[type]))
  for (const [pointer, value] of Object.entries(set)) {
    const { parent, member } = locate(copy, pointer)
    Reflect.set(parent, member, value)
  }
  if (remove !== undefined) {
    const { parent, member } = locate(copy, remove)
    assert.ok(Reflect.has(parent, member), `${type} has no ${remove}`)
    Reflect.deleteProperty(parent, member)
  }
  return copy
}

function locate(root: object, pointer: string): { parent: object; member: string } {
  const path = pointer.split('/').slice(1)
  const member = path.pop() ?? ''
  const parent = path.reduce<unknown>((place, name) => Reflect.get(place as object, name), root)
  return { parent: parent as object, member }
}
