import { verifyDetached, type PublicKey } from '@agent-exchange/crypto'
import type { Signature } from '@agent-exchange/protocol'

export const PACKAGE_HEAD_TYPE = 'aex-package-head/1'

/**
 * What the exchange states about the end of a package's chain, signed with its statement key over RFC 8785 without
 * `signature`. An entry beyond `position` whose leaf has an index below `log.size` proves that the statement was false.
 */
export interface PackageHead {
  readonly type: typeof PACKAGE_HEAD_TYPE
  readonly package_id: string
  readonly thread_id: string
  /** Of the last entry. */
  readonly position: number
  /** The link of that entry, in hexadecimal. */
  readonly link: string
  /** The published checkpoint that was read before the end of the chain. */
  readonly log: { readonly origin: string; readonly size: number }
  readonly stated_at: string
  readonly signature: Signature
}

/** Throws a CryptoError unless that key signed the statement. Whose key it is, and when it counted, is for the caller. */
export function verifyPackageHead(head: PackageHead, publicKey: PublicKey): Promise<void> {
  return verifyDetached(head, { member: 'signature', publicKey })
}
