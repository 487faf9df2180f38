import { CryptoError, importPublicJwk, jwkThumbprint } from '@agent-exchange/crypto'
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
export async function inspectKeys(body: unknown, profile: DeploymentProfile): Promise<void> {
  requireFewKeys(body, profile)
  await refusePrivateKeys(body)
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
async function refusePrivateKeys(body: unknown): Promise<void> {
  for (const [pointer, jwk] of jwksIn(body)) {
    try {
      await importPublicJwk(jwk)
    } catch (error) {
      if (isPrivate(error)) throw asProblem(error, pointer)
    }
  }
}

function* jwksIn(body: unknown): Generator<[pointer: string, jwk: unknown]> {
  yield ['/public_key', memberOf(body, 'public_key')]
  const keys = memberOf(body, 'keys')
  if (!Array.isArray(keys)) return
  for (const [index, key] of keys.entries()) {
    yield [`/keys/${index}/public_key`, memberOf(key, 'public_key')]
  }
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
