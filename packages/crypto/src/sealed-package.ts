import { CONTENT_ENCRYPTION, MEDIA_TYPE, PROTOCOL_VERSION } from '@agent-exchange/protocol'
import { decodeBase64url, encodeBase64url } from './base64.ts'
import { contentKeyCommitment, importContentKey, unwrapContentKey, wrapContentKey } from './content-key.ts'
import { CryptoError } from './errors.ts'
import type { PrivateKey, PublicKey } from './keys.ts'
import {
  IV_LENGTH,
  readSealedPackage,
  TAG_LENGTH,
  type SealedOptions,
  type SealedPackage,
} from './sealed-package-shape.ts'

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
   * `writeAdditionalData`, with the commitment to the content key that the function gets. Never empty; defaults to the
   * protocol version.
   */
  readonly aad?: Uint8Array | ((keyCommitment: string) => Uint8Array)
  readonly contentType?: string
}

const CONTENT_KEY_LENGTH = 32

/**
 * Encrypts for sender and recipient, sender first, so that a sender can read its own packages.
 *
 * @example
 * const jwe = await sealPackage(bytes, {
 *   sender: { kid: 'key_a', publicKey: mine },
 *   recipient: { kid: 'key_b', publicKey: theirs },
 *   aad: (keyCommitment) => writeAdditionalData(metadata, { keyCommitment }),
 * })
 */
export async function sealPackage(plaintext: Uint8Array, options: SealOptions): Promise<SealedPackage> {
  const { sender, recipient, aad = new TextEncoder().encode(PROTOCOL_VERSION) } = options
  const contentType = options.contentType ?? MEDIA_TYPE.reasoningPackage
  const contentKey = crypto.getRandomValues(new Uint8Array(CONTENT_KEY_LENGTH))
  const iv = crypto.getRandomValues(new Uint8Array(IV_LENGTH))
  const data = encodeBase64url(typeof aad === 'function' ? aad(contentKeyCommitment(contentKey)) : aad)
  const header = {
    enc: CONTENT_ENCRYPTION,
    typ: MEDIA_TYPE.sealedJwe,
    cty: contentType,
    syv: PROTOCOL_VERSION,
  }
  const protectedHeader = encodeBase64url(new TextEncoder().encode(JSON.stringify(header)))
  const encrypted = new Uint8Array(
    await crypto.subtle.encrypt(
      gcm(iv, protectedHeader, data),
      await importContentKey(contentKey),
      new Uint8Array(plaintext),
    ),
  )
  const jwe = {
    aad: data,
    ciphertext: encodeBase64url(encrypted.subarray(0, -TAG_LENGTH)),
    iv: encodeBase64url(iv),
    protected: protectedHeader,
    recipients: [await wrapContentKey(contentKey, sender), await wrapContentKey(contentKey, recipient)],
    tag: encodeBase64url(encrypted.subarray(-TAG_LENGTH)),
  }
  // Apply the checks of the service: two kids, content, exact members.
  const curves = [sender.publicKey.jwk.crv, recipient.publicKey.jwk.crv]
  return readSealedPackage(jwe, { contentTypes: [contentType], curves })
}

/** RFC 7516 section 5.1 step 14: header and aad are authenticated in their encoded form. */
function gcm(
  iv: Uint8Array,
  protectedHeader: string,
  aad: string,
): Parameters<typeof crypto.subtle.encrypt>[0] {
  return {
    name: 'AES-GCM',
    iv: new Uint8Array(iv),
    additionalData: new TextEncoder().encode(`${protectedHeader}.${aad}`),
  }
}

export interface OpenedPackage {
  readonly plaintext: Uint8Array
  readonly aad: Uint8Array
  /** Opens this package alone. Whoever gets it can read the content, and nothing else. */
  readonly contentKey: Uint8Array
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
  const jwe = readSealedPackage(value, { curves: [crv], ...options })
  const own = jwe.recipients.filter(({ header }) => header.kid === kid)
  if (own.length === 0) throw new CryptoError('sealed_not_recipient')
  if (privateKey.use !== 'encryption') throw new CryptoError('key_use_mismatch')
  // Two agents may use the same key id, so both entries can have this kid; only one of them opens.
  return Promise.any(own.map(async (entry) => decrypt(jwe, await unwrapContentKey(entry, privateKey)))).catch(
    ({ errors }: AggregateError) => {
      // A package must not be refused for good because a key is away for a minute.
      const unavailable = errors.find(isUnavailable)
      if (unavailable) throw unavailable
      // One error for every other cause, because the failed step would help only an attacker.
      throw new CryptoError('sealed_not_opened')
    },
  )
}

function isUnavailable(error: unknown): error is CryptoError {
  return error instanceof CryptoError && error.code === 'key_unavailable'
}

/** Opens a sealed package with the content key that one of its recipients disclosed. */
export async function openDisclosedPackage(
  value: unknown,
  contentKey: Uint8Array,
  options: SealedOptions = {},
): Promise<OpenedPackage> {
  const jwe = readSealedPackage(value, options)
  // HMAC pads keys with zeros: the commitment to a key that ends in zeros fits a shorter one too, of another cipher.
  if (contentKey.length !== CONTENT_KEY_LENGTH) throw new CryptoError('sealed_not_opened')
  try {
    return await decrypt(jwe, contentKey)
  } catch {
    throw new CryptoError('sealed_not_opened')
  }
}

async function decrypt(jwe: SealedPackage, key: Uint8Array): Promise<OpenedPackage> {
  const contentKey = new Uint8Array(key)
  const plaintext = await crypto.subtle.decrypt(
    gcm(decodeBase64url(jwe.iv), jwe.protected, jwe.aad),
    await importContentKey(contentKey),
    joined(decodeBase64url(jwe.ciphertext), decodeBase64url(jwe.tag)),
  )
  return { plaintext: new Uint8Array(plaintext), aad: decodeBase64url(jwe.aad), contentKey }
}

function joined(ciphertext: Uint8Array, tag: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(ciphertext.length + tag.length)
  bytes.set(ciphertext)
  bytes.set(tag, ciphertext.length)
  return bytes
}
