import type { Signature } from '@agent-exchange/protocol'

/** The platform's statement key, ready to sign. The private part stays inside. */
export interface PlatformSigner {
  /** A detached signature over RFC 8785 of the object, without the named member, by the key that signs now. */
  sign(statement: object, member: 'signature' | 'manifest_signature'): Promise<Signature>
}
