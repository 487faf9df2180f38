import { isEarlier } from './instants.ts'
import { cutoffsOf, type KeyCutoff, type KeyEntry } from './key-cutoffs.ts'

/** When a statement was signed, by its own claim, and when the exchange got it. */
export interface SignedAt {
  /** Left out for package receipts, which are judged by their arrival: a truthful late receipt counts. */
  readonly claimedAt?: string | undefined
  readonly arrivedAt: string
}

/**
 * - `valid`: the key counted.
 * - `disowned_later`: it counted, and was revoked from a later time on.
 * - `revoked_unrecorded`: it was accepted after `invalid_from`, before anybody had recorded the revocation.
 * - `not_yet_valid`, `revoked`, `not_a_signing_key`: the signature does not count.
 */
export type KeyVerdictCode =
  | 'valid'
  | 'disowned_later'
  | 'revoked_unrecorded'
  | 'not_yet_valid'
  | 'revoked'
  | 'not_a_signing_key'

export interface KeyJudgement {
  readonly code: KeyVerdictCode
  /** The revocation that the code is about. */
  readonly cutoff?: KeyCutoff
}

/** A key with its cutoffs, as {@link cutoffsOf} returns them. */
export interface JudgedKey {
  readonly use: string
  readonly valid_from: string
  readonly cutoffs: readonly KeyCutoff[]
}

/**
 * ID-05, for the exchange, the opener and the verifier of evidence alike. The claimed time alone is not enough: whoever
 * holds the key can claim any time, so arrival has to lie within the key's validity too. A time that cannot be read lies
 * outside of it.
 */
export function judgeSigningKey({ use, valid_from, cutoffs }: JudgedKey, at: SignedAt): KeyJudgement {
  if (use !== 'signing') return { code: 'not_a_signing_key' }
  const times = [at.arrivedAt, ...(at.claimedAt === undefined ? [] : [at.claimedAt])]
  if (times.some((time) => isEarlier(time, valid_from) !== false)) return { code: 'not_yet_valid' }
  const isAfter = (cutoff: string) => times.some((time) => isEarlier(time, cutoff) !== true)
  // Along the list, cutoffs get later and their records earlier, so both ends are found by bisection.
  const passed = firstWhere(cutoffs, ({ invalidFrom }) => !isAfter(invalidFrom))
  const recorded = firstWhere(cutoffs, ({ recordedAt }) => isEarlier(recordedAt, at.arrivedAt) === true)
  const known = recorded < passed ? cutoffs[recorded] : undefined
  if (known) return { code: 'revoked', cutoff: known }
  const [earliest] = cutoffs
  if (!earliest) return { code: 'valid' }
  return { code: passed > 0 ? 'revoked_unrecorded' : 'disowned_later', cutoff: earliest }
}

/** Index of the first item for which the condition holds; the length of the list if there is none. */
function firstWhere<T>(list: readonly T[], holds: (item: T) => boolean): number {
  let [from, to] = [0, list.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (holds(list[middle] as T)) to = middle
    else from = middle + 1
  }
  return from
}

export type SigningKeyFault = 'not_a_signing_key' | 'not_yet_valid' | 'revoked'

/**
 * ID-05 for whoever relies on a signature now: undefined if the key counted. A signature that arrived between
 * `invalid_from` and the record of the revocation may be a thief's, so it does not count here.
 */
export function signingKeyFault(key: KeyEntry, at: SignedAt): SigningKeyFault | undefined {
  const { use, valid_from } = key
  const { code } = judgeSigningKey({ use, valid_from, cutoffs: cutoffsOf(key) }, at)
  if (code === 'valid' || code === 'disowned_later') return undefined
  return code === 'revoked_unrecorded' ? 'revoked' : code
}

export type EncryptionKeyFault = 'not_an_encryption_key' | 'not_yet_valid' | 'revoked' | 'retired'

/**
 * ID-05: whether a package created at that time may be sealed for the key; undefined if it may. A revocation counts
 * from its `invalid_from`, which may lie ahead.
 */
export function encryptionKeyFault(key: KeyEntry, createdAt: string): EncryptionKeyFault | undefined {
  if (key.use !== 'encryption') return 'not_an_encryption_key'
  if (isEarlier(createdAt, key.valid_from) !== false) return 'not_yet_valid'
  if (typeof key.invalid_from === 'string')
    return isEarlier(createdAt, key.invalid_from) === true ? undefined : 'revoked'
  if (key.status === 'revoked') return 'revoked'
  return key.status === 'retired' ? 'retired' : undefined
}
