import type { Signature } from '@agent-exchange/protocol'

/** Signs with the platform's statement key and never exposes its private part. */
export interface PlatformSigner {
  /** A detached signature over RFC 8785 of the object, without the named member, by the current key. */
  sign(statement: object, member: 'signature' | 'manifest_signature'): Promise<Signature>
}
