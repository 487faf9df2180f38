import { isMemberName, pointerTo, type DeploymentProfile } from '@agent-exchange/protocol'
import { Problem } from './problem.ts'

type Limits = DeploymentProfile['O-14']
type Path = readonly (string | number)[]

interface Walk {
  readonly limits: Limits
  values: number
}

/**
 * O-14: limits of lists and objects. Checked before anything else reads the document, because later checks take time
 * per entry or even per pair of entries.
 */
export function assertListLimits(document: unknown, profile: DeploymentProfile, place = ''): void {
  const limits = profile['O-14']
  const path = pathToExcess(document, 0, { limits, values: 0 })
  if (!path) return
  const { list_items, object_members, json_values } = limits
  const message = `Use lists of at most ${list_items} entries, objects of at most ${object_members} members, and at most ${json_values} values in all.`
  const failures = [{ pointer: pointerOf(path, place), rule: 'O-14', message }]
  throw new Problem('validation_failed', { failures })
}

/** The path to the first list or object that is too large. */
function pathToExcess(value: unknown, depth: number, walk: Walk): Path | undefined {
  if (++walk.values > walk.limits.json_values) return []
  // Another check refuses documents that nest too deep: they are not walked.
  if (typeof value !== 'object' || value === null || depth >= walk.limits.json_depth) return undefined
  const { list_items, object_members } = walk.limits
  const isList = Array.isArray(value)
  if (isList && value.length > list_items) return []
  const entries = Object.entries(value)
  if (!isList && entries.length > object_members) return []
  for (const [name, inner] of entries) {
    const path = pathToExcess(inner, depth + 1, walk)
    if (path) return [isList ? Number(name) : name, ...path]
  }
  return undefined
}

/** O-29: no schema was checked yet, so a name may be content. The pointer ends before the first unknown name. */
function pointerOf(path: Path, place: string): string {
  const end = path.findIndex((name) => typeof name === 'string' && !isMemberName(name))
  return (end < 0 ? path : path.slice(0, end)).reduce<string>(pointerTo, place)
}
