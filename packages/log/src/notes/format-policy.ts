import { encodeBase64url, sha256Sync } from '@agent-exchange/crypto'
import { UNCONFIRMED_MARK } from './policy.ts'
import { formatVerifierKey, type VerifierKey } from './verifier-key.ts'

export interface PolicyTerms {
  /** The keys that sign the checkpoints of the log. */
  readonly logs: readonly VerifierKey[]
  /** Witnesses of which each has to cosign. */
  readonly witnesses?: readonly VerifierKey[]
  /** Whether somebody compared the log keys with their owner. */
  readonly isConfirmed: boolean
}

/** SHA-256 over the key in base64url: what the operator of a log publishes, and what a reader compares. */
export function logKeyFingerprint({ type, publicKey }: VerifierKey): string {
  return encodeBase64url(sha256Sync(Uint8Array.of(type, ...publicKey)))
}

/** A C2SP tlog-policy. */
export function formatPolicy({ logs, witnesses = [], isConfirmed }: PolicyTerms): string {
  const names = witnesses.map((_, at) => `witness-${at + 1}`)
  return [
    ...(isConfirmed
      ? []
      : [UNCONFIRMED_MARK, '# Nobody has compared this key with the operator of the log.']),
    ...logs.flatMap((key) => [`# Fingerprint ${logKeyFingerprint(key)}`, `log ${formatVerifierKey(key)}`]),
    ...witnesses.map((key, at) => `witness ${names[at] ?? ''} ${formatVerifierKey(key)}`),
    ...(names.length > 0
      ? [`group all-witnesses all ${names.join(' ')}`, 'quorum all-witnesses']
      : ['quorum none']),
    '',
  ].join('\n')
}
