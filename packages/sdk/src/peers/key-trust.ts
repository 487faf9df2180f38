import type { DeploymentProfile } from '@agent-exchange/protocol'
import { isNamedByThumbprint } from './key-introduction.ts'
import type { PeerPins, PinnedKey } from './peer-directory.ts'

/** O-47: when a changed key of a peer counts. */
export type KeyTrust = DeploymentProfile['O-47']

/** Not only the operator vouches for the key: it may introduce others, and may be sealed for. */
export function isIndependent({ by }: PinnedKey): boolean {
  return by !== 'log' && by !== 'directory'
}

/** Whether a pinned key counts for its use. A pin by a rule that is no longer set does not. */
export function counts({ by, use }: PinnedKey, { verifying, sealing }: KeyTrust): boolean {
  if (by === 'directory') return (use === 'signing' ? verifying : sealing) === 'directory'
  return by !== 'log' || (use === 'signing' && verifying !== 'strict')
}

/** A peer whose keys have ids of our form can introduce its next keys, and must. */
export function usesIntroductions({ keys }: PeerPins): boolean {
  return keys.some(({ keyId, fingerprint }) => isNamedByThumbprint(keyId, fingerprint))
}
