import { judgeSigningKey, type KeyVerdictCode, type SignedAt } from '@agent-exchange/protocol'
import type { CheckResult, CheckValues } from '../verdict/check.ts'
import type { RingKey } from './key-ring.ts'

export interface KeyVerdict {
  readonly result: Exclude<CheckResult, 'unproved'>
  readonly values: CheckValues & { readonly key: KeyVerdictCode }
}

/** What each verdict means for a signature that the exchange accepted. */
const RESULTS: Readonly<Record<KeyVerdictCode, KeyVerdict['result']>> = {
  valid: 'holds',
  disowned_later: 'holds',
  revoked_unrecorded: 'doubt',
  revoked: 'fails',
  not_yet_valid: 'fails',
  not_a_signing_key: 'fails',
}

/** ID-05 over a signature that the exchange accepted. */
export function judgeKey({ record, cutoffs }: RingKey, at: SignedAt): KeyVerdict {
  const { use, valid_from } = record.key
  const { code, cutoff } = judgeSigningKey({ use, valid_from, cutoffs }, at)
  const since = cutoff && { invalid_from: cutoff.invalidFrom, recorded_at: cutoff.recordedAt }
  return { result: RESULTS[code], values: { key: code, ...since } }
}
