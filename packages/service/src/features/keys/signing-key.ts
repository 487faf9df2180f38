import { isEarlier } from '@agent-exchange/protocol'
import { Problem } from '../../kernel/problem.ts'

/** What ID-05 has to know of a registered key. Times as their owner wrote them. */
export interface KeyState {
  readonly use: string
  readonly status: string
  readonly valid_from: string
  readonly invalid_from: string | null
}

/** ID-05: a package receipt is judged at its arrival; when it happened is only a claim. */
export function requireSigningKeyAtArrival(key: KeyState | undefined, now: string): void {
  requireSigningKey(key, now, now)
}

/**
 * ID-05: a signature counts only by a signing key that was valid at the claimed time. The claim alone is not
 * enough where the key has an end: the arrival must lie before it too, or a thief could backdate.
 */
export function requireSigningKey(key: KeyState | undefined, claimedAt: string, now: string): void {
  if (!key) throw refused('unknown')
  if (key.use !== 'signing') throw refused('not_a_signing_key')
  if (isEarlier(claimedAt, key.valid_from)) throw refused('not_yet_valid')
  if (key.invalid_from !== null) {
    const inTime = isEarlier(claimedAt, key.invalid_from) && isEarlier(now, key.invalid_from)
    if (!inTime) throw refused('revoked')
  } else if (key.status === 'retired') throw refused('retired')
}

/**
 * ID-05: encryption keys named in a sealed package are usable at its created_at; undefined where this one is. A
 * revocation counts from its invalid_from, which may lie ahead.
 */
export function encryptionKeyFault(key: KeyState | undefined, claimedAt: string): string | undefined {
  if (!key) return 'unknown'
  if (key.use !== 'encryption') return 'not_an_encryption_key'
  if (isEarlier(claimedAt, key.valid_from)) return 'not_yet_valid'
  if (key.invalid_from !== null) return isEarlier(claimedAt, key.invalid_from) ? undefined : 'revoked'
  return key.status === 'retired' ? 'retired' : undefined
}

function refused(reason: string): Problem {
  return new Problem('signing_key_unusable', { reason })
}
