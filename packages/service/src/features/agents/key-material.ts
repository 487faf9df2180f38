import { CryptoError, holdsPrivateMember, importPublicJwk, jwkThumbprint } from '@agent-exchange/crypto'
import type { DeploymentProfile, PublicKeyRequest } from '@agent-exchange/protocol'
import { Problem } from '../../kernel/problem.ts'

/** The public point of a key and its RFC 7638 thumbprint. */
export interface KeyMaterial {
  readonly publicJwk: string
  readonly thumbprint: string
}

/** ID-06: validates a public key: a point on a permitted curve (O-28) for the registered use. */
export async function readKeyMaterial(
  { public_key, use }: PublicKeyRequest,
  pointer: string,
  profile: DeploymentProfile,
): Promise<KeyMaterial> {
  const curves = use === 'encryption' ? profile['O-28'].encryption_curves : undefined
  try {
    const { jwk } = await importPublicJwk(public_key, { use, ...(curves && { curves }) })
    return { publicJwk: JSON.stringify(jwk), thumbprint: await jwkThumbprint(jwk) }
  } catch (error) {
    throw asProblem(error, pointer)
  }
}

/** Checks the keys of a body before schema validation. */
export function inspectKeys(body: unknown, profile: DeploymentProfile): void {
  requireFewKeys(body, profile)
  refusePrivateKeys(body)
}

/** O-14: parsing a key costs as much as verifying a signature, so their number is limited. */
function requireFewKeys(body: unknown, profile: DeploymentProfile): void {
  const keys = memberOf(body, 'keys')
  const maximum = profile['O-14'].registration_keys
  if (!Array.isArray(keys) || keys.length <= maximum) return
  const message = `Use at most ${maximum} keys, and register further keys one by one.`
  throw new Problem('validation_failed', { failures: [{ pointer: '/keys', rule: 'O-14', message }] })
}

/**
 * ID-06: private key parts get their own problem before schema validation could hide them, because the owner must learn
 * that the key is exposed.
 */
function refusePrivateKeys(body: unknown): void {
  for (const [pointer, key] of keysIn(body)) {
    if (holdsPrivateMember(memberOf(key, 'public_key')))
      throw new Problem('private_key_refused', { pointer: `${pointer}/public_key` })
    // Private members next to `public_key` are refused too.
    if (holdsPrivateMember(key)) throw new Problem('private_key_refused', { pointer })
  }
}

/** A body is a single key or contains a list of keys. */
function keysIn(body: unknown): [pointer: string, key: unknown][] {
  const keys = memberOf(body, 'keys')
  if (!Array.isArray(keys)) return [['', body]]
  return keys.map((key, index) => [`/keys/${index}`, key])
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

function isPrivate(error: unknown): boolean {
  return error instanceof CryptoError && error.code === 'key_private_material'
}

function asProblem(error: unknown, pointer: string): unknown {
  if (!(error instanceof CryptoError)) return error
  // The error is not passed on as cause, so that no part of a private key can reach the log.
  if (isPrivate(error)) return new Problem('private_key_refused', { pointer })
  return new Problem('public_key_invalid', { pointer, reason: error.code })
}
