import { OPEN_POINT_IDS, openPoints, type OpenPointId } from './open-points.ts'
import { toJson } from '../schema/define.ts'
import { validatorFor } from '../validation/validator.ts'
import { DEFAULT_PROFILE, type DeploymentProfile } from './profile.ts'

/** The member of the OpenAPI document in which an exchange publishes how it decides the open points. */
export const PUBLISHED_PROFILE = 'x-deployment-profile'

type Settings = Readonly<Record<string, unknown>>
type Validator = ReturnType<typeof validatorFor>

/**
 * The profile that an exchange publishes; undefined if it publishes none. An exchange of another version may lack open
 * points or have further ones: unknown ones are ignored, and what is missing or invalid is taken from the defaults.
 */
export function readPublishedProfile(published: unknown): DeploymentProfile | undefined {
  if (!isObject(published)) return undefined
  const points = OPEN_POINT_IDS.map((id) => [id, readPoint(id, published[id])] as const)
  return Object.fromEntries(points) as DeploymentProfile
}

/** Only points that differ are validated: compiling the schemas of all takes longer than most calls. */
function readPoint(id: OpenPointId, published: unknown): object {
  const defaults: Settings = DEFAULT_PROFILE[id]
  if (!isObject(published)) return defaults
  const known = Object.keys(defaults).map((name) => [
    name,
    Object.hasOwn(published, name) ? published[name] : defaults[name],
  ])
  const settings = Object.fromEntries(known) as Settings
  const isDefault = JSON.stringify(settings) === JSON.stringify(defaults)
  return isDefault || !validatorOfPoint(id).accepts(settings) ? defaults : settings
}

const validators = new Map<OpenPointId, Validator>()

function validatorOfPoint(id: OpenPointId): Validator {
  const made = validators.get(id) ?? validatorFor(toJson(openPoints[id].settings), id)
  validators.set(id, made)
  return made
}

/** A setting that an exchange changed. */
export interface ProfileChange {
  readonly id: OpenPointId
  readonly setting: string
  readonly before: unknown
  readonly after: unknown
}

export function profileChanges(before: DeploymentProfile, after: DeploymentProfile): ProfileChange[] {
  return OPEN_POINT_IDS.flatMap((id) =>
    Object.keys(after[id]).flatMap((setting): ProfileChange[] => {
      const [old, now]: unknown[] = [Reflect.get(before[id], setting), Reflect.get(after[id], setting)]
      return JSON.stringify(old) === JSON.stringify(now) ? [] : [{ id, setting, before: old, after: now }]
    }),
  )
}

function isObject(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
