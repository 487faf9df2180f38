import { importSigner, importVerifier, sha256 } from '#primitives'
import { encodeBase64url } from './base64.ts'
import { canonicalBytes } from './canonical-json.ts'
import { CryptoError } from './errors.ts'
import {
  type JwkOptions,
  type KeyUse,
  type PrivateJwk,
  type PublicJwk,
  readPrivateJwk,
  readPublicJwk,
} from './jwk-shape.ts'
import type { Signer, Verifier } from './primitives.ts'

/** A key of the runtime, which the types of Node and of browsers name differently. */
export type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/** A validated public key. The imported runtime key stays inside this module. */
export interface PublicKey {
  readonly jwk: PublicJwk
}

/** A private key for one use. It cannot be exported. */
export interface PrivateKey {
  readonly use: KeyUse
  readonly publicJwk: PublicJwk
}

export interface KeyPair {
  readonly publicKey: PublicKey
  readonly privateKey: PrivateKey
  /** To be stored only by its owner. */
  readonly privateJwk: PrivateJwk
}

// Weak maps associate handles with runtime keys, so a forged handle is useless.
const verifiers = new WeakMap<PublicKey, Verifier>()
const signers = new WeakMap<PrivateKey, Signer>()
const agreementKeys = new WeakMap<PublicKey | PrivateKey, Promise<CryptoKey>>()

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
  const key: PrivateKey = Object.freeze({ use, publicJwk: Object.freeze(publicJwk) })
  // WebCrypto refuses a private key with a foreign public key; node:crypto does not check.
  const agreementKey = await importAgreementKey({ ...publicJwk, d }).catch(() => {
    throw new CryptoError('key_pair_mismatch')
  })
  if (use === 'signing') signers.set(key, await importSigner({ ...publicJwk, d }))
  else agreementKeys.set(key, Promise.resolve(agreementKey))
  return key
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

export function signerOf(key: PrivateKey): Signer {
  const signer = signers.get(key)
  if (signer === undefined) throw new CryptoError('key_use_mismatch')
  return signer
}

export function agreementKeyOf(key: PublicKey | PrivateKey): Promise<CryptoKey> {
  let agreementKey = agreementKeys.get(key)
  if (agreementKey === undefined) {
    if (!('jwk' in key)) throw new CryptoError('key_use_mismatch')
    agreementKey = importAgreementKey(key.jwk)
    agreementKeys.set(key, agreementKey)
  }
  return agreementKey
}

function importAgreementKey(jwk: PublicJwk | PrivateJwk): Promise<CryptoKey> {
  const usages: 'deriveBits'[] = 'd' in jwk ? ['deriveBits'] : []
  return crypto.subtle.importKey('jwk', { ...jwk }, { name: 'ECDH', namedCurve: jwk.crv }, false, usages)
}
