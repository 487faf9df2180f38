import { SIGNATURE_ALGORITHM } from '@agent-exchange/protocol'
import { decodeBase64url } from './base64.ts'
import { isObject } from './closed-object.ts'
import { type Curve, CURVES, isOnCurve, toBigInt } from './curves.ts'
import { CryptoError } from './errors.ts'

/** A public key in the form of the protocol, without other members. */
export interface PublicJwk {
  readonly kty: 'EC'
  readonly crv: Curve
  readonly x: string
  readonly y: string
}

export interface PrivateJwk extends PublicJwk {
  readonly d: string
}

export type KeyUse = 'signing' | 'encryption'

export interface JwkOptions {
  /** Allowed curves. Defaults to P-256 (open point O-28); signing keys always use P-256. */
  readonly curves?: readonly Curve[]
  /** The intended use. A private JWK that declares another use is refused; what a public one declares is ignored. */
  readonly use?: KeyUse
  readonly at?: string
}

/** RFC 7518 sections 6.2.2, 6.3.2 and 6.4, and `priv` of the AKP type: private by name, whatever the type. */
const PRIVATE_MEMBERS = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'])
/** Allowed members of an ephemeral key, which is stored with its content (O-29). */
const MEMBERS_OF_EPHEMERAL = new Set(['kty', 'crv', 'x', 'y', 'kid', 'alg', 'use', 'key_ops', 'ext'])

type Members = Readonly<Record<string, unknown>>

/**
 * Parses a public EC key from untrusted input. Other public members (RFC 7517 section 4, registered or not) are ignored,
 * and a URL among them is never fetched.
 */
export function readPublicJwk(value: unknown, options: JwkOptions = {}): PublicJwk {
  const jwk = asObject(value, options.at)
  if (holdsPrivateMember(jwk)) throw new CryptoError('key_private_material', { at: options.at })
  return readPoint(jwk, options)
}

/** Like {@link readPublicJwk}, for the key in a sealed package, which must have no unknown members. */
export function readEphemeralJwk(value: unknown, options: JwkOptions = {}): PublicJwk {
  const point = readPublicJwk(value, options)
  if (Object.keys(asObject(value, options.at)).some((name) => !MEMBERS_OF_EPHEMERAL.has(name))) {
    throw new CryptoError('key_member_unknown', { at: options.at })
  }
  return point
}

/**
 * ID-06: whether a member is private by its name, at any depth. The name is sufficient, even with the value null or an
 * empty string.
 */
export function holdsPrivateMember(value: unknown): boolean {
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    for (const [name, inner] of Object.entries(next)) {
      if (PRIVATE_MEMBERS.has(name) && !Array.isArray(next)) return true
      open.push(inner)
    }
  }
  return false
}

/** Parses a private EC key of the caller. */
export function readPrivateJwk(value: unknown, options: JwkOptions = {}): PrivateJwk {
  const { d, ...rest } = asObject(value, options.at)
  if (d === undefined) throw new CryptoError('key_private_missing', { at: options.at })
  const point = readPoint(rest, options)
  if (options.use !== undefined && contradicts(rest, options.use))
    throw new CryptoError('key_use_mismatch', { at: options.at })
  const { size, n } = CURVES[point.crv]
  const scalar = readInteger(d, size, options.at)
  if (scalar.value === 0n || scalar.value >= n)
    throw new CryptoError('key_coordinate_invalid', { at: options.at })
  return { ...point, d: scalar.text }
}

function asObject(value: unknown, at: string | undefined): Members {
  if (!isObject(value)) throw new CryptoError('key_malformed', { at })
  return value
}

function readPoint(jwk: Members, options: JwkOptions): PublicJwk {
  const { curves = ['P-256'], use, at } = options
  if (jwk.kty !== 'EC') throw new CryptoError('key_type_unsupported', { at })
  const allowed: readonly Curve[] = use === 'signing' ? ['P-256'] : curves
  const crv = allowed.find((curve) => curve === jwk.crv)
  if (crv === undefined) throw new CryptoError('key_curve_unsupported', { at })
  const x = readInteger(jwk.x, CURVES[crv].size, at)
  const y = readInteger(jwk.y, CURVES[crv].size, at)
  if (!isOnCurve(crv, x.value, y.value)) throw new CryptoError('key_not_on_curve', { at })
  return { kty: 'EC', crv, x: x.text, y: y.text }
}

/** Full length, including leading zeros (RFC 7518 sections 6.2.1.2 and 6.2.2.1). */
function readInteger(text: unknown, size: number, at: string | undefined): { text: string; value: bigint } {
  if (typeof text !== 'string') throw new CryptoError('key_coordinate_invalid', { at })
  let bytes: Uint8Array
  try {
    bytes = decodeBase64url(text)
  } catch {
    throw new CryptoError('key_coordinate_invalid', { at })
  }
  if (bytes.length !== size) throw new CryptoError('key_coordinate_invalid', { at })
  return { text, value: toBigInt(bytes) }
}

/**
 * RFC 7517 sections 4.2 to 4.4: use, key_ops and alg of one's own key are optional, but binding if present. The use of a
 * public key is a member of its registration, so these members say nothing there (ID-06).
 */
function contradicts(jwk: Members, use: KeyUse): boolean {
  const operations: readonly unknown[] | undefined = Array.isArray(jwk.key_ops) ? jwk.key_ops : undefined
  if (use === 'signing') {
    return (
      (jwk.use !== undefined && jwk.use !== 'sig') ||
      (jwk.alg !== undefined && jwk.alg !== SIGNATURE_ALGORITHM) ||
      (operations !== undefined && !operations.includes('sign'))
    )
  }
  return (
    (jwk.use !== undefined && jwk.use !== 'enc') ||
    (jwk.alg !== undefined && !(typeof jwk.alg === 'string' && jwk.alg.startsWith('ECDH-ES'))) ||
    (operations !== undefined && (operations.includes('sign') || operations.includes('verify')))
  )
}
