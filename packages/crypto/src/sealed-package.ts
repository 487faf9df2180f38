import { CONTENT_ENCRYPTION, KEY_WRAPPING, MEDIA_TYPE, PROTOCOL_VERSION } from '@agent-exchange/protocol'
import { flattenedDecrypt, GeneralEncrypt } from 'jose'
import { decodeBase64url } from './base64.ts'
import { CryptoError } from './errors.ts'
import { readEphemeralJwk } from './jwk-shape.ts'
import { agreementKeyOf, type PrivateKey, type PublicKey } from './keys.ts'
import { readSealedPackage, type SealedOptions, type SealedPackage } from './sealed-package-shape.ts'

export interface Party {
  /** The registered id of the encryption key of the party. */
  readonly kid: string
  readonly publicKey: PublicKey
}

export interface SealOptions {
  readonly sender: Party
  readonly recipient: Party
  /**
   * Readable data that is authenticated with the content; its meaning is an open point (O-17). Our SDK uses
   * `writeAdditionalData`. Never empty; defaults to the protocol version.
   */
  readonly aad?: Uint8Array
  readonly contentType?: string
}

/**
 * Encrypts for sender and recipient, sender first, so that a sender can read its own packages.
 *
 * @example
 * const jwe = await sealPackage(bytes, {
 *   sender: { kid: 'key_a', publicKey: mine },
 *   recipient: { kid: 'key_b', publicKey: theirs },
 *   aad: canonicalBytes({ package_id, thread_id }),
 * })
 */
export async function sealPackage(plaintext: Uint8Array, options: SealOptions): Promise<SealedPackage> {
  const { sender, recipient, aad = new TextEncoder().encode(PROTOCOL_VERSION) } = options
  const contentType = options.contentType ?? MEDIA_TYPE.reasoningPackage
  const jwe = await new GeneralEncrypt(plaintext)
    .setProtectedHeader({
      enc: CONTENT_ENCRYPTION,
      typ: MEDIA_TYPE.sealedJwe,
      cty: contentType,
      syv: PROTOCOL_VERSION,
    })
    .setAdditionalAuthenticatedData(aad)
    .addRecipient(await agreementKeyOf(sender.publicKey))
    .setUnprotectedHeader({ alg: KEY_WRAPPING, kid: sender.kid })
    .addRecipient(await agreementKeyOf(recipient.publicKey))
    .setUnprotectedHeader({ alg: KEY_WRAPPING, kid: recipient.kid })
    .encrypt()
  // Apply the checks of the service: two kids, content, exact members.
  const curves = [sender.publicKey.jwk.crv, recipient.publicKey.jwk.crv]
  return readSealedPackage(jwe, { contentTypes: [contentType], curves })
}

export interface OpenedPackage {
  readonly plaintext: Uint8Array
  readonly aad: Uint8Array
}

/**
 * Opens a sealed package as either of its recipients.
 *
 * @example
 * const { plaintext } = await openPackage(jwe, { kid: 'key_b', privateKey })
 */
export async function openPackage(
  value: unknown,
  { kid, privateKey }: { readonly kid: string; readonly privateKey: PrivateKey },
  options: SealedOptions = {},
): Promise<OpenedPackage> {
  const { crv } = privateKey.publicJwk
  const { recipients, ...shared } = readSealedPackage(value, { curves: [crv], ...options })
  const own = recipients.filter(({ header }) => header.kid === kid)
  if (own.length === 0) throw new CryptoError('sealed_not_recipient')
  const key = await agreementKeyOf(privateKey)
  // Two agents may use the same key id, so both entries can have this kid; only one of them opens.
  const opened = await Promise.any(
    own.map(({ encrypted_key, header }) => {
      const epk = { ...readEphemeralJwk(header.epk, { curves: [crv] }) }
      return flattenedDecrypt({ ...shared, encrypted_key, header: { ...header, epk } }, key, {
        keyManagementAlgorithms: [KEY_WRAPPING],
        contentEncryptionAlgorithms: [CONTENT_ENCRYPTION],
      })
    }),
  ).catch(() => {
    // One error for every cause, because the failed step would help only an attacker.
    throw new CryptoError('sealed_not_opened')
  })
  return { plaintext: opened.plaintext, aad: decodeBase64url(shared.aad) }
}
