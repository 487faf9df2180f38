import { isEarlier, type ProblemCode } from '@agent-exchange/protocol'
import { Problem } from '../../kernel/problem.ts'

/** What ID-05 has to know of a registered key. Times as their owner wrote them. */
export interface KeyState {
  readonly use: string
  readonly status: string
  readonly valid_from: string
  readonly invalid_from: string | null
}

/**
 * ID-05: a signature counts only by a signing key that was valid at the claimed time. The claim alone is not
 * enough where the key has an end: the arrival must lie before it too, or a thief could backdate.
 */
export function requireSigningKey(key: KeyState | undefined, claimedAt: string, now: string): void {
  if (!key) throw refused('signing_key_unusable', 'unknown')
  if (key.use !== 'signing') throw refused('signing_key_unusable', 'not_a_signing_key')
  if (isEarlier(claimedAt, key.valid_from)) throw refused('signing_key_unusable', 'not_yet_valid')
  if (key.invalid_from !== null) {
    const inTime = isEarlier(claimedAt, key.invalid_from) && isEarlier(now, key.invalid_from)
    if (!inTime) throw refused('signing_key_unusable', 'revoked')
  } else if (key.status === 'retired') throw refused('signing_key_unusable', 'retired')
}

/** Encryption keys named in a sealed package are active or retiring. */
export function requireEncryptionKey(key: KeyState | undefined, claimedAt: string): void {
  if (!key) throw refused('encryption_key_unusable', 'unknown')
  if (key.use !== 'encryption') throw refused('encryption_key_unusable', 'not_an_encryption_key')
  if (!isUsableForEncryption(key)) throw refused('encryption_key_unusable', key.status)
  if (isEarlier(claimedAt, key.valid_from)) throw refused('encryption_key_unusable', 'not_yet_valid')
}

export function isUsableForEncryption(key: KeyState): boolean {
  return key.use === 'encryption' && (key.status === 'active' || key.status === 'retiring')
}

function refused(code: ProblemCode, reason: string): Problem {
  return new Problem(code, { reason })
}
