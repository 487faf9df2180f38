import { pointerTo } from '../validation/failure.ts'
import type { OpenPointId } from './open-points.ts'
import { createProfile, DEFAULT_PROFILE, type DeploymentProfile, type ProfileResult } from './profile.ts'

/**
 * Open points that say what a judge of signatures and contents trusts, and how a recipient keeps content. Each agent and
 * each verifier sets them for itself: the operator of the exchange is the adversary there.
 */
export const TRUST_CHOICE_IDS = [
  'O-17',
  'O-22',
  'O-35',
  'O-46',
  'O-47',
  'O-51',
] as const satisfies OpenPointId[]

export type TrustChoices = Pick<DeploymentProfile, (typeof TRUST_CHOICE_IDS)[number]>

/** What a judge sets differently from the defaults, by open point and setting. */
export type TrustOverrides = { readonly [Id in keyof TrustChoices]?: Partial<TrustChoices[Id]> }

/** The defaults with a judge's own settings. Other open points are the exchange's to decide, and are refused. */
export function createTrust(overrides: unknown): ProfileResult {
  // Most judges set nothing: this saves compiling the schema.
  if (JSON.stringify(overrides) === '{}') return { ok: true, profile: DEFAULT_PROFILE }
  const result = createProfile(overrides)
  if (!result.ok) return result
  const known: readonly string[] = TRUST_CHOICE_IDS
  const failures = Object.keys(Object(overrides) as object)
    .filter((id) => !known.includes(id))
    .map((id) => ({
      pointer: pointerTo('', id),
      rule: 'O-20',
      message: `Use one of ${known.join(', ')}: every other open point is decided by the exchange.`,
    }))
  return failures.length > 0 ? { ok: false, failures } : result
}

/** A profile by which to judge: how the exchange behaves as it says, what to trust as the judge set it. */
export function judgingProfile(behaviour: DeploymentProfile, trust: TrustChoices): DeploymentProfile {
  return { ...behaviour, ...Object.fromEntries(TRUST_CHOICE_IDS.map((id) => [id, trust[id]])) }
}
