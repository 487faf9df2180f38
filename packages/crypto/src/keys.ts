import { importSigner, importVerifier, sha256 } from '#primitives'
import { encodeBase64url } from './base64.ts'
import { canonicalBytes } from './canonical-json.ts'
import { type Curve, CURVES } from './curves.ts'
import { CryptoError } from './errors.ts'
import {
  type JwkOptions,
  type KeyUse,
  type PrivateJwk,
  type PublicJwk,
  readPrivateJwk,
  readPublicJwk,
} from './jwk-shape.ts'
import type { Verifier } from './primitives.ts'

/** A key of the runtime, which the types of Node and of browsers name differently. */
export type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/** A validated public key. The imported runtime key stays inside this module. */
export interface PublicKey {
  readonly jwk: PublicJwk
}

/**
 * A private key for one use. Anybody may implement it, for example for a hardware security module: the private part never
 * comes out, only results do.
 */
export interface PrivateKey {
  readonly use: KeyUse
  readonly publicJwk: PublicJwk
  /** ES256: the 64 bytes r||s over SHA-256 of the message. A key for encryption rejects. */
  sign(message: Uint8Array): Promise<Uint8Array>
  /**
   * ECDH (RFC 7518 section 4.6): the x-coordinate of the shared point, in the full length of the curve. The caller has
   * verified that the point is on the curve of this key. A key for signing rejects.
   */
  agree(publicJwk: PublicJwk): Promise<Uint8Array>
}

export interface KeyPair {
  readonly publicKey: PublicKey
  readonly privateKey: PrivateKey
  /** To be stored only by its owner. */
  readonly privateJwk: PrivateJwk
}

// Weak maps associate public keys with runtime keys, so a public key that was not validated verifies nothing.
const verifiers = new WeakMap<PublicKey, Verifier>()
const agreementKeys = new WeakMap<PublicKey, Promise<CryptoKey>>()

/**
 * Validates and imports a public JWK. Importing is expensive, so keep the handle.
 *
 * @example
 * const key = await importPublicJwk(directoryEntry.public_key, { use: 'signing' })
 */
export async function importPublicJwk(jwk: unknown, options: JwkOptions = {}): Promise<PublicKey> {
  const key: PublicKey = Object.freeze({ jwk: Object.freeze(readPublicJwk(jwk, options)) })
  if (key.jwk.crv === 'P-256') verifiers.set(key, await importVerifier(key.jwk))
  return key
}

/** Imports a private JWK of the caller, for signing or for opening packages. */
export async function importPrivateJwk(
  jwk: unknown,
  options: JwkOptions & { readonly use: KeyUse },
): Promise<PrivateKey> {
  const { use } = options
  const { d, ...publicJwk } = readPrivateJwk(jwk, options)
  // WebCrypto refuses a private key with a foreign public key; node:crypto does not check.
  const agreementKey = await importAgreementKey({ ...publicJwk, d }).catch(() => {
    throw new CryptoError('key_pair_mismatch')
  })
  const sign = use === 'signing' ? await importSigner({ ...publicJwk, d }) : refuseUse
  const agree = use === 'encryption' ? agreementBy(agreementKey) : refuseUse
  return Object.freeze({ use, publicJwk: Object.freeze(publicJwk), sign, agree })
}

/**
 * Generates a P-256 key pair.
 *
 * @example
 * const { publicKey, privateKey } = await generateKeyPair('signing')
 */
export async function generateKeyPair(use: KeyUse): Promise<KeyPair> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])
  const { crv, x, y, d } = await crypto.subtle.exportKey('jwk', pair.privateKey)
  const privateJwk = readPrivateJwk({ kty: 'EC', crv, x, y, d })
  return {
    publicKey: await importPublicJwk({ kty: 'EC', crv, x, y }),
    privateKey: await importPrivateJwk(privateJwk, { use }),
    privateJwk,
  }
}

/** RFC 7638: SHA-256 over the required members in lexicographic order, base64url. */
export async function jwkThumbprint({ crv, kty, x, y }: PublicJwk): Promise<string> {
  return encodeBase64url(await sha256(canonicalBytes({ crv, kty, x, y })))
}

export function verifierOf(key: PublicKey): Verifier {
  const verifier = verifiers.get(key)
  if (verifier === undefined) throw new CryptoError('key_curve_unsupported')
  return verifier
}

export function agreementKeyOf(key: PublicKey): Promise<CryptoKey> {
  let agreementKey = agreementKeys.get(key)
  if (agreementKey === undefined) {
    agreementKey = importAgreementKey(key.jwk)
    agreementKeys.set(key, agreementKey)
  }
  return agreementKey
}

/** ECDH with a key of the runtime: the x-coordinate of the shared point. */
export async function agreeOnSecret(own: CryptoKey, other: CryptoKey, curve: Curve): Promise<Uint8Array> {
  const bits = CURVES[curve].size * 8
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: other }, own, bits))
}

function agreementBy(own: CryptoKey): PrivateKey['agree'] {
  return async (publicJwk) => agreeOnSecret(own, await importAgreementKey(publicJwk), publicJwk.crv)
}

async function refuseUse(): Promise<never> {
  throw new CryptoError('key_use_mismatch')
}

function importAgreementKey(jwk: PublicJwk | PrivateJwk): Promise<CryptoKey> {
  const usages: 'deriveBits'[] = 'd' in jwk ? ['deriveBits'] : []
  return crypto.subtle.importKey('jwk', { ...jwk }, { name: 'ECDH', namedCurve: jwk.crv }, false, usages)
}
