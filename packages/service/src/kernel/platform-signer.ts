import type { Signature } from '@agent-exchange/protocol'

/** The platform's statement key, ready to sign. The private part stays inside. */
export interface PlatformSigner {
  readonly keyId: string
  /** A detached signature over RFC 8785 of the object, without the named member. */
  sign(statement: object, member: 'signature' | 'manifest_signature'): Promise<Signature>
}
