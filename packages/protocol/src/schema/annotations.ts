import type { OpenPointId } from '../profile/open-points.ts'

/**
 * Which requirement a failure of this schema breaks: one id, or one per keyword. Under a property, `required`
 * names the requirement that its absence breaks.
 */
export type RequirementNote = string | Readonly<Record<string, string>>

export const REQUIREMENT = 'x-requirement'
export const OPEN_POINT = 'x-open-point'
export const IN_USE = 'x-values-in-use'
export const ANNOTATIONS = [REQUIREMENT, OPEN_POINT, IN_USE]

export function proves(note: RequirementNote): { [REQUIREMENT]: RequirementNote } {
  return { [REQUIREMENT]: note }
}

/** Marks a choice that the specification leaves open; the profile may allow an override. */
export function ours(...ids: [OpenPointId, ...OpenPointId[]]): { [OPEN_POINT]: string } {
  return { [OPEN_POINT]: ids.join(' ') }
}

/** Example values of an open list: documented, never enforced. */
export function inUse(...values: string[]): { [IN_USE]: string[] } {
  return { [IN_USE]: values }
}
