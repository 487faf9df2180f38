import {
  canonicalBytes,
  decodeBase64url,
  encodeBase64url,
  jwkThumbprint,
  signEs256,
  verifyEs256,
  type KeyUse,
  type PrivateKey,
  type PublicJwk,
  type PublicKey,
} from '@agent-exchange/crypto'

/**
 * How one key introduces another through an untrusted directory. The exchange carries key ids unchanged, so the id
 * itself contains the proof: `key_<thumbprint>` for an agent's first signing key, and
 * `key_<thumbprint>.<signature>` for every other, signed by the signing key that was current when it was made.
 */
const PURPOSE = 'aex-key-introduction'
const KEY_ID = /^key_([A-Za-z0-9_-]{43})(?:\.([A-Za-z0-9_-]{86}))?$/

export interface Introduction {
  readonly organizationId: string
  readonly agentId: string
  readonly use: KeyUse
  /** RFC 7638, of the key that is introduced. */
  readonly thumbprint: string
}

/**
 * A key id that contains the introducer's signature.
 *
 * @example
 * const keyId = await introducedKeyId(signingKey, { organizationId, agentId, use: 'encryption' }, publicJwk)
 */
export async function introducedKeyId(
  introducer: PrivateKey,
  about: Omit<Introduction, 'thumbprint'>,
  publicJwk: PublicJwk,
): Promise<string> {
  const thumbprint = await jwkThumbprint(publicJwk)
  const signature = await signEs256(introducer, introductionBytes({ ...about, thumbprint }))
  return `key_${thumbprint}.${encodeBase64url(signature)}`
}

/** Whether a key id contains a valid introduction by this introducer. An id of any other form proves nothing. */
export async function isIntroducedBy(
  introducer: PublicKey,
  keyId: string,
  about: Introduction,
): Promise<boolean> {
  const [, thumbprint, proof] = KEY_ID.exec(keyId) ?? []
  // The id must match the key's thumbprint, or the introduction is for another key.
  if (proof === undefined || thumbprint !== about.thumbprint) return false
  let signature: Uint8Array
  try {
    signature = decodeBase64url(proof)
  } catch {
    return false
  }
  return verifyEs256(introducer, introductionBytes(about), signature)
}

/** Whether an id has our form, with or without an introduction. */
export function isNamedByThumbprint(keyId: string, thumbprint: string): boolean {
  return KEY_ID.exec(keyId)?.[1] === thumbprint
}

/** Whether an id carries an introduction at all. */
export function carriesIntroduction(keyId: string): boolean {
  return KEY_ID.exec(keyId)?.[2] !== undefined
}

function introductionBytes({ organizationId, agentId, use, thumbprint }: Introduction): Uint8Array {
  return canonicalBytes({
    purpose: PURPOSE,
    organization_id: organizationId,
    agent_id: agentId,
    use,
    thumbprint,
  })
}
