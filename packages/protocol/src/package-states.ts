import { DEFAULT_PROFILE, type DeploymentProfile } from './profile/profile.ts'
import { PACKAGE_STATES, type PackageState } from './schema/package-state.ts'
import type { TransportMode } from './schema/shared.ts'

/** An event that may change the state of a package. */
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
  /** `none`: the package does not exist yet; `before_access`: every state that O-04 does not count as access. */
  readonly from: PackageState | 'none' | 'before_access'
  readonly to: PackageState
  readonly trigger: PackageTrigger
  readonly transport: TransportMode | 'either'
  /** Whether the specification or the deployment profile (O-03) defines the row. */
  readonly basis: 'specification' | 'profile'
}

/** The complete state machine. The functions below only read this table. */
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

/** The specified order for one transport mode; the two middle states are alternatives. */
export function progression(transport: TransportMode): PackageState[] {
  const other = transport === 'native' ? 'transfer_started' : 'encrypted_available'
  return PACKAGE_STATES.filter((state) => state !== 'revoked' && state !== other)
}

export type PackageMove =
  /** The package is now in `to`; `implied` lists the skipped states, which the same event proves. */
  | { readonly outcome: 'moved'; readonly to: PackageState; readonly implied: readonly PackageState[] }
  /**
   * The event belongs to an earlier state, is a receipt about a revoked package, or this deployment disables its
   * transition: it is only recorded.
   */
  | { readonly outcome: 'recorded' }
  /** The current state does not allow it: the problem `invalid_state_transition`. */
  | { readonly outcome: 'refused' }

/** PKG-08: a receipt states what happened at the recipient, which a revocation does not undo. */
const RECEIPT_TRIGGERS: ReadonlySet<PackageTrigger> = new Set(['receipt_received', 'receipt_opened'])

/** The effect of an event on a package, by the table and the profile. */
export function movePackage(
  current: PackageState,
  trigger: PackageTrigger,
  transport: TransportMode,
  profile: DeploymentProfile = DEFAULT_PROFILE,
): PackageMove {
  const rule = PACKAGE_TRANSITIONS.find(
    (each) => each.trigger === trigger && (each.transport === 'either' || each.transport === transport),
  )
  if (!rule || rule.from === 'none') return { outcome: 'refused' }
  if (current === 'revoked') return { outcome: RECEIPT_TRIGGERS.has(trigger) ? 'recorded' : 'refused' }
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

/** Every state after an access state also counts as accessed, even if it is not listed. */
export function hasBeenAccessed(state: PackageState, profile: DeploymentProfile = DEFAULT_PROFILE): boolean {
  const { access_states } = profile['O-04']
  return (['native', 'ds_x'] as const).some((transport) => {
    const order = progression(transport)
    return order.slice(0, order.indexOf(state) + 1).some((earlier) => access_states.includes(earlier))
  })
}

/** The event type of a state, if any (O-10). Acceptance always emits an event. */
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
