import { CryptoError, type CryptoErrorCode } from './errors.ts'

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * An object with exactly these members. In signed and sealed objects nothing may hide beside what the
 * protocol names (O-29); which name was too many is not said, since names are content as well.
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
