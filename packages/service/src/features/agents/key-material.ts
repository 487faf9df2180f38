import { CryptoError, holdsPrivateMember, importPublicJwk, jwkThumbprint } from '@agent-exchange/crypto'
import type { DeploymentProfile, PublicKeyRequest } from '@agent-exchange/protocol'
import { Problem } from '../../kernel/problem.ts'

/** A registered key's point and nothing else, with its RFC 7638 name. */
export interface KeyMaterial {
  readonly publicJwk: string
  readonly thumbprint: string
}

/** ID-06: a public point on an allowed curve (O-28), fit for the use it is registered for. */
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

/** Where a body holds keys: looks at them before its schema does. */
export function inspectKeys(body: unknown, profile: DeploymentProfile): void {
  requireFewKeys(body, profile)
  refusePrivateKeys(body)
}

/** O-14: reading a key costs as much as verifying a signature, so there are few in one request. */
function requireFewKeys(body: unknown, profile: DeploymentProfile): void {
  const keys = memberOf(body, 'keys')
  const maximum = profile['O-14'].registration_keys
  if (!Array.isArray(keys) || keys.length <= maximum) return
  const message = `List at most ${maximum} keys, and add others one by one.`
  throw new Problem('validation_failed', { failures: [{ pointer: '/keys', rule: 'O-14', message }] })
}

/**
 * ID-06: private parts are refused for what they are, before a schema failure could hide it: their owner has to
 * learn that the key is exposed. Anything else about the body is left to its schema.
 */
function refusePrivateKeys(body: unknown): void {
  for (const [pointer, key] of keysIn(body)) {
    if (holdsPrivateMember(memberOf(key, 'public_key')))
      throw new Problem('private_key_refused', { pointer: `${pointer}/public_key` })
    // Beside the public key no member has such a name either.
    if (holdsPrivateMember(key)) throw new Problem('private_key_refused', { pointer })
  }
}

/** A body is a key, or lists them. */
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
  // Not the error itself as a cause: nothing that was read out of a key goes further than here.
  if (isPrivate(error)) return new Problem('private_key_refused', { pointer })
  return new Problem('public_key_invalid', { pointer, reason: error.code })
}
