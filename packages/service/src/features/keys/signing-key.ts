import { encryptionKeyFault, signingKeyFault, type KeyEntry, type SignedAt } from '@agent-exchange/protocol'
import { Problem } from '../../kernel/problem.ts'

/** What ID-05 has to know of a registered key. Times as their owner wrote them. */
export type KeyState = KeyEntry & { readonly invalid_from: string | null }

/** ID-05: refuses a signature unless its key counted at the claimed time and at arrival. */
export function requireSigningKey(key: KeyState | undefined, at: SignedAt): void {
  const reason = key ? (signingKeyFault(key, at) ?? retirement(key)) : 'unknown'
  if (reason !== undefined) throw new Problem('signing_key_unusable', { reason })
}

/** A retired key signs nothing new; what it signed before stays valid. */
function retirement({ status, invalid_from }: KeyState): 'retired' | undefined {
  return status === 'retired' && invalid_from === null ? 'retired' : undefined
}

/** ID-05: encryption keys named in a sealed package are usable at its created_at; undefined where this one is. */
export function sealingKeyFault(key: KeyState | undefined, createdAt: string): string | undefined {
  return key ? encryptionKeyFault(key, createdAt) : 'unknown'
}
