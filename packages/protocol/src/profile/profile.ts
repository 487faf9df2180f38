import { Type, type Static } from 'typebox'
import { toJson, type JsonObject } from '../schema/define.ts'
import { isEarlier } from '../instants.ts'
import { pointerTo, type Failure } from '../validation/failure.ts'
import { validatorFor } from '../validation/validator.ts'
import { OPEN_POINT_IDS, openPoints, type OpenPointId } from './open-points.ts'

/** The choices of a deployment for every open point. */
export type DeploymentProfile = {
  readonly [Id in OpenPointId]: Static<(typeof openPoints)[Id]['settings']>
}

export type ProfileResult =
  | { readonly ok: true; readonly profile: DeploymentProfile }
  | { readonly ok: false; readonly failures: readonly Failure[] }

const settings = Object.fromEntries(OPEN_POINT_IDS.map((id) => [id, openPoints[id].settings]))

/** The schema of a complete profile. An override file may omit any point and any setting. */
export const profileSchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...toJson(Type.Object(settings, { additionalProperties: false })),
}

const validate = validatorFor<DeploymentProfile>(profileSchema, 'O-20')

export const DEFAULT_PROFILE: DeploymentProfile = defaults()

function defaults(): DeploymentProfile {
  const points = OPEN_POINT_IDS.map((id) => {
    const members = Object.entries(openPoints[id].settings.properties)
    return [id, Object.fromEntries(members.map(([name, schema]) => [name, Reflect.get(schema, 'default')]))]
  })
  return deepFreeze(Object.fromEntries(points)) as DeploymentProfile
}

/**
 * Merges the overrides of a deployment into the defaults, setting by setting.
 *
 * @example
 * const result = createProfile({ 'O-15': { maximum_limit: 200 } })
 * if (result.ok) result.profile['O-15'].default_limit // still 100
 */
export function createProfile(overrides: unknown): ProfileResult {
  if (!isPlainObject(overrides)) {
    const message = 'Give a JSON object with open point ids such as "O-15" as members.'
    return { ok: false, failures: [{ pointer: '', rule: 'O-20', message }] }
  }
  const merged = Object.fromEntries([
    ...Object.entries(DEFAULT_PROFILE),
    ...Object.entries(overrides).map(([id, values]) => [id, overlay(id, values)] as const),
  ])
  const failures = validate(merged, { nameUnknownMembers: true }).map(namePoint)
  const contradictions = failures.length > 0 ? [] : contradictionsIn(merged as DeploymentProfile)
  return failures.length + contradictions.length > 0
    ? { ok: false, failures: [...failures, ...contradictions] }
    : { ok: true, profile: deepFreeze(merged) as DeploymentProfile }
}

function overlay(id: string, values: unknown): unknown {
  const base = Object.hasOwn(DEFAULT_PROFILE, id) ? DEFAULT_PROFILE[id as OpenPointId] : {}
  return isPlainObject(values) ? { ...base, ...values } : values
}

/** A failure below `/O-15/…` belongs to O-15. */
function namePoint(found: Failure): Failure {
  const id = found.pointer.split('/')[1]
  return id === undefined ? found : { ...found, rule: id }
}

function contradictionsIn(profile: DeploymentProfile): Failure[] {
  const pages = (['O-07', 'O-15', 'O-40'] as const).flatMap((id) =>
    profile[id].default_limit > profile[id].maximum_limit
      ? [failure(id, 'default_limit', 'Use at most the value of maximum_limit.')]
      : [],
  )
  const { deprecated_at, sunset_at } = profile['O-16']
  const sunset = isEarlier(sunset_at, deprecated_at)
    ? [failure('O-16', 'sunset_at', 'Use a time that is not earlier than deprecated_at.')]
    : []
  const { request_bytes, request_bytes_in_flight } = profile['O-14']
  const bodies =
    request_bytes_in_flight < 2 * request_bytes
      ? [failure('O-14', 'request_bytes_in_flight', 'Use at least twice the value of request_bytes.')]
      : []
  return [...pages, ...sunset, ...bodies]
}

function failure(id: OpenPointId, setting: string, message: string): Failure {
  return { pointer: pointerTo(pointerTo('', id), setting), rule: id, message }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function deepFreeze(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze)
    Object.freeze(value)
  }
  return value
}
