import { DEFAULT_PROFILE, type DeploymentProfile } from './profile/profile.ts'
import { PACKAGE_STATES, type PackageState } from './schema/package-state.ts'
import type { TransportMode } from './schema/shared.ts'

/** A fact that may move a package. */
export type PackageTrigger =
  | 'submission'
  | 'content_stored'
  | 'transfer_referenced'
  | 'content_fetched'
  | 'receipt_received'
  | 'receipt_opened'
  | 'response_accepted'
  | 'revocation'

export interface PackageTransition {
  /** `none`: there is no package yet; `before_access`: every state that O-04 does not count as access. */
  readonly from: PackageState | 'none' | 'before_access'
  readonly to: PackageState
  readonly trigger: PackageTrigger
  readonly transport: TransportMode | 'either'
  /** Whether the specification fixes the row or the deployment profile does (O-03). */
  readonly basis: 'specification' | 'profile'
}

/** The whole state machine. Every function below only reads this table. */
export const PACKAGE_TRANSITIONS: readonly PackageTransition[] = [
  row('none', 'accepted', 'submission', 'either', 'specification'),
  row('before_access', 'revoked', 'revocation', 'either', 'specification'),
  row('accepted', 'encrypted_available', 'content_stored', 'native', 'profile'),
  row('accepted', 'transfer_started', 'transfer_referenced', 'ds_x', 'profile'),
  row('encrypted_available', 'delivered', 'content_fetched', 'native', 'profile'),
  row('delivered', 'received', 'receipt_received', 'either', 'profile'),
  row('received', 'opened', 'receipt_opened', 'either', 'profile'),
  row('opened', 'responded', 'response_accepted', 'either', 'profile'),
]

function row(
  from: PackageTransition['from'],
  to: PackageState,
  trigger: PackageTrigger,
  transport: PackageTransition['transport'],
  basis: PackageTransition['basis'],
): PackageTransition {
  return { from, to, trigger, transport, basis }
}

/** The order that the specification fixes, for one transport: the two middle states are alternatives. */
export function progression(transport: TransportMode): PackageState[] {
  const other = transport === 'native' ? 'transfer_started' : 'encrypted_available'
  return PACKAGE_STATES.filter((state) => state !== 'revoked' && state !== other)
}

export type PackageMove =
  /** The package is now in `to`; `implied` lists the states passed on the way, proved by the same fact. */
  | { readonly outcome: 'moved'; readonly to: PackageState; readonly implied: readonly PackageState[] }
  /** The fact lies behind the current state, or moves nothing in this deployment: it is recorded only. */
  | { readonly outcome: 'recorded' }
  /** The current state does not allow it: the problem `invalid_state_transition`. */
  | { readonly outcome: 'refused' }

/** What a fact does to a package, from the table and the profile alone. */
export function movePackage(
  current: PackageState,
  trigger: PackageTrigger,
  transport: TransportMode,
  profile: DeploymentProfile = DEFAULT_PROFILE,
): PackageMove {
  const rule = PACKAGE_TRANSITIONS.find(
    (each) => each.trigger === trigger && (each.transport === 'either' || each.transport === transport),
  )
  if (!rule || rule.from === 'none' || current === 'revoked') return { outcome: 'refused' }
  if (rule.from === 'before_access') {
    return hasBeenAccessed(current, profile)
      ? { outcome: 'refused' }
      : { outcome: 'moved', to: rule.to, implied: [] }
  }
  const order = progression(transport)
  const [here, there] = [order.indexOf(current), order.indexOf(rule.to)]
  if (there <= here || !moves(trigger, profile)) return { outcome: 'recorded' }
  return { outcome: 'moved', to: rule.to, implied: order.slice(here + 1, there) }
}

/** What comes after a state that counts as access comes after access too, whether it is listed or not. */
export function hasBeenAccessed(state: PackageState, profile: DeploymentProfile = DEFAULT_PROFILE): boolean {
  const { access_states } = profile['O-04']
  return (['native', 'ds_x'] as const).some((transport) => {
    const order = progression(transport)
    return order.slice(0, order.indexOf(state) + 1).some((earlier) => access_states.includes(earlier))
  })
}

/** The event that arriving in a state emits, if any (O-10). Acceptance always emits. */
export function eventTypeFor(
  state: PackageState,
  profile: DeploymentProfile = DEFAULT_PROFILE,
): string | undefined {
  return state === 'accepted' || profile['O-10'].states.includes(state) ? `package.${state}` : undefined
}

function moves(trigger: PackageTrigger, profile: DeploymentProfile): boolean {
  const settings: Partial<Record<PackageTrigger, boolean>> = profile['O-03']
  return settings[trigger] ?? true
}
