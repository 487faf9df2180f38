import { protocolObjects, type ProtocolObject } from '../objects/index.ts'
import { DEFAULT_PROFILE, type DeploymentProfile } from '../profile/profile.ts'
import type { Named } from '../schema/define.ts'
import { OBJECT_TYPES, type ObjectType } from '../schema/shared.ts'
import { crossFieldFailures } from './cross-field-rules.ts'
import { MAXIMUM_FAILURES, type Failure } from './failure.ts'
import { validatorOf } from './validator.ts'

export type ObjectValidation =
  | { readonly valid: true; readonly object: ProtocolObject; readonly failures: readonly [] }
  | {
      readonly valid: false
      readonly objectType: ObjectType | undefined
      readonly failures: readonly Failure[]
    }

/**
 * Validates one of the six protocol objects by its `object_type`: the schema, then the rules between members. Never throws.
 * Reports at most 100 failures, and only the first one for an object with thousands of values. Messages name unknown
 * members, so show them only to the owner of the object.
 *
 * @example
 * const result = validateObject(JSON.parse(text))
 * if (!result.valid) for (const { pointer, rule, message } of result.failures) console.error(pointer, rule, message)
 */
export function validateObject(
  value: unknown,
  profile: DeploymentProfile = DEFAULT_PROFILE,
): ObjectValidation {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return invalid([{ pointer: '', rule: 'OBJ-03', message: 'Give a JSON object.' }])
  }
  const type: unknown = Object.hasOwn(value, 'object_type') ? Reflect.get(value, 'object_type') : undefined
  if (!isObjectType(type)) {
    const message = `Set "object_type" to one of ${OBJECT_TYPES.map((name) => `"${name}"`).join(', ')}.`
    return invalid([{ pointer: '/object_type', rule: 'OBJ-03', message }])
  }
  const failures = [
    ...validatorOf(protocolObjects[type] as Named<ProtocolObject>)(value, { nameUnknownMembers: true }),
    ...crossFieldFailures(type, value as Record<string, unknown>, profile),
  ].slice(0, MAXIMUM_FAILURES)
  return failures.length > 0
    ? invalid(failures, type)
    : { valid: true, object: value as ProtocolObject, failures: [] }
}

function invalid(failures: readonly Failure[], objectType?: ObjectType): ObjectValidation {
  return { valid: false, objectType, failures }
}

function isObjectType(value: unknown): value is ObjectType {
  return (OBJECT_TYPES as readonly unknown[]).includes(value)
}
