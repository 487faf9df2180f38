import {
  sha256Digest,
  signDetached,
  verifyDetached,
  type PublicKey,
  type SigningKey,
} from '@agent-exchange/crypto'
import type { Signature } from '@agent-exchange/protocol'

export const DISCLOSURE_TYPE = 'aex-disclosure/1'

/**
 * What one party of a package adds so that a third one can read the content: the envelope that the sender signed, and the
 * key of this one content. It holds no private key, and opens nothing else.
 */
export interface Disclosure {
  /** The flattened JWS as it was downloaded; in ds_x this is the asset. */
  readonly envelope: string
  /** In base64url. */
  readonly content_key: string
  readonly disclosed_by: { readonly organization_id: string; readonly agent_id: string }
  /** Over RFC 8785 of the statement that this agent discloses the content under this key. */
  readonly signature: Signature
}

/** What is disclosed, before it is signed. */
export interface DisclosedKey {
  readonly packageId: string
  readonly envelope: string
  readonly contentKey: Uint8Array
  readonly disclosedBy: Disclosure['disclosed_by']
}

/** The signature of the disclosing agent: nobody else can be made to have shown the content. */
export async function signDisclosure(disclosed: DisclosedKey, key: SigningKey): Promise<Signature> {
  return signDetached(await statementOf(disclosed), { ...key, member: 'signature' })
}

/** Throws a CryptoError unless that key signed it. */
export async function verifyDisclosureSignature(
  disclosed: DisclosedKey,
  { signature, publicKey }: { readonly signature: Signature; readonly publicKey: PublicKey },
): Promise<void> {
  await verifyDetached({ ...(await statementOf(disclosed)), signature }, { member: 'signature', publicKey })
}

async function statementOf({ packageId, envelope, contentKey, disclosedBy }: DisclosedKey): Promise<object> {
  return {
    type: DISCLOSURE_TYPE,
    package_id: packageId,
    envelope_digest: await sha256Digest(new TextEncoder().encode(envelope)),
    content_key_digest: await sha256Digest(contentKey),
    disclosed_by: disclosedBy,
  }
}
