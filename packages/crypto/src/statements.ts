import {
  type DetachedSignature,
  readDetached,
  signatureBytes,
  signDetached,
  signedBytes,
  type SigningKey,
  verifyDetached,
} from './detached-signature.ts'
import { CryptoError } from './errors.ts'
import { verifyEs256 } from './es256.ts'
import type { PublicKey } from './keys.ts'

/** POL-01: a policy receipt, without its `signature`. */
export function signPolicyReceipt(receipt: object, key: SigningKey): Promise<DetachedSignature> {
  return signDetached(receipt, { ...key, member: 'signature' })
}

export function verifyPolicyReceipt(receipt: object, publicKey: PublicKey): Promise<void> {
  return verifyDetached(receipt, { member: 'signature', publicKey })
}

/** PKG-03: the ds_x control manifest, without its `sender_signature`. */
export function signManifest(manifest: object, key: SigningKey): Promise<DetachedSignature> {
  return signDetached(manifest, { ...key, member: 'sender_signature' })
}

export function verifyManifest(manifest: object, publicKey: PublicKey): Promise<void> {
  return verifyDetached(manifest, { member: 'sender_signature', publicKey })
}

/** ID-10: a skill release, without its `manifest_signature`. */
export function signSkillRelease(release: object, key: SigningKey): Promise<DetachedSignature> {
  return signDetached(release, { ...key, member: 'manifest_signature' })
}

export function verifySkillRelease(release: object, publicKey: PublicKey): Promise<void> {
  return verifyDetached(release, { member: 'manifest_signature', publicKey })
}

/**
 * What the signature of a package receipt or a revocation covers is an open point (O-22). `plain` covers the body, which
 * is valid for any package; `bound` covers the body plus a member `package_id`, which is valid for one.
 */
export type StatementForm = 'bound' | 'plain'

export interface StatementCheck {
  readonly packageId: string
  readonly publicKey: PublicKey
  /** Accepted forms. Defaults to both. */
  readonly accept?: readonly StatementForm[]
}

/** PKG-08, PKG-10: signs a package receipt or a revocation, bound to its package. */
export function signPackageStatement(
  body: object,
  { packageId, ...key }: SigningKey & { readonly packageId: string },
): Promise<DetachedSignature> {
  return signDetached({ ...body, package_id: packageId }, { ...key, member: 'signature' })
}

/** Verifies a package receipt or a revocation as sent, and returns the form of its signature. */
export async function verifyPackageStatement(
  body: object,
  { packageId, publicKey, accept = ['bound', 'plain'] }: StatementCheck,
): Promise<StatementForm> {
  const signature = signatureBytes(readDetached(body, 'signature'))
  for (const form of accept) {
    const statement = form === 'bound' ? { ...body, package_id: packageId } : body
    if (await verifyEs256(publicKey, signedBytes(statement, 'signature'), signature)) return form
  }
  throw new CryptoError('signature_mismatch')
}
