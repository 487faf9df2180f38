import { CryptoError, type CryptoErrorCode } from './errors.ts'

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * An object with exactly these members. Signed and sealed objects must not contain unknown members (O-29). The error
 * does not name the unknown member, because names may be content.
 */
export function closedObject<Name extends string>(
  value: unknown,
  names: readonly Name[],
  code: CryptoErrorCode,
  at?: string,
): Readonly<Record<Name, unknown>> {
  if (!isObject(value) || !hasExactly(value, names)) throw new CryptoError(code, { at })
  return value
}

function hasExactly<Name extends string>(
  object: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): object is Readonly<Record<Name, unknown>> {
  return Object.keys(object).length === names.length && names.every((name) => Object.hasOwn(object, name))
}
