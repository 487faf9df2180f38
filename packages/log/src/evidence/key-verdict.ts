import { judgeSigningKey, type KeyCutoff, type KeyVerdictCode, type SignedAt } from '@agent-exchange/protocol'
import type { RingKey } from './key-ring.ts'

export interface KeyVerdict {
  readonly ok: boolean
  readonly doubt?: true
  readonly detail: string
}

/** What each verdict means for a signature that the exchange accepted. */
const OUTCOMES: Readonly<Record<KeyVerdictCode, Omit<KeyVerdict, 'detail'>>> = {
  valid: { ok: true },
  disowned_later: { ok: true },
  revoked_unrecorded: { ok: true, doubt: true },
  revoked: { ok: false },
  not_yet_valid: { ok: false },
  not_a_signing_key: { ok: false },
}

const SENTENCES: Readonly<Record<KeyVerdictCode, (keyId: string, cutoff?: KeyCutoff) => string>> = {
  valid: (keyId) => `by ${keyId}`,
  disowned_later: (keyId, cutoff) =>
    `by ${keyId}, disowned afterwards (not valid from ${cutoff?.invalidFrom} on)`,
  revoked_unrecorded: (keyId, cutoff) =>
    `by ${keyId}, already invalid from ${cutoff?.invalidFrom} on, which was recorded only at ${cutoff?.recordedAt}`,
  revoked: (keyId, cutoff) => `${keyId} was revoked, not valid from ${cutoff?.invalidFrom} on`,
  not_yet_valid: (keyId) => `${keyId} was not valid yet`,
  not_a_signing_key: (keyId) => `${keyId} is not a signing key`,
}

/** ID-05 over a signature that the exchange accepted, in words. */
export function judgeKey({ record, cutoffs, signer: { keyId } }: RingKey, at: SignedAt): KeyVerdict {
  const { use, valid_from } = record.key
  const { code, cutoff } = judgeSigningKey({ use, valid_from, cutoffs }, at)
  return { ...OUTCOMES[code], detail: SENTENCES[code](keyId, cutoff) }
}
