import type { KeyProvider, PrivateKey, PublicJwk } from '@agent-exchange/crypto'
import { ExchangeError } from '../errors.ts'
import { unavailable, useOf } from './key-rules.ts'
import type { OwnKey } from './key-store.ts'

/** A key whose private part a key provider holds: the handle that a store returns for it. */
export async function privateKeyHeldBy(
  provider: KeyProvider | undefined,
  { keyId, role, publicJwk, reference }: OwnKey & { readonly reference: string },
): Promise<PrivateKey> {
  if (!provider)
    throw new ExchangeError('key_store_unavailable', {
      what: 'A module holds the private key, and the store was opened without it. Pass `keyProvider`.',
      details: { keyId, reference },
    })
  const fail = (cause: unknown) => {
    throw unavailable(keyId, cause)
  }
  const key = await provider.privateKey(reference, useOf(role)).catch(fail)
  if (!isSamePoint(key.publicJwk, publicJwk))
    throw new ExchangeError('key_store_unreadable', {
      what: 'The module has another key under this reference.',
      details: { keyId, reference },
    })
  return {
    use: key.use,
    publicJwk,
    sign: (message) => key.sign(message).catch(fail),
    agree: (other) => key.agree(other).catch(fail),
  }
}

function isSamePoint(one: PublicJwk, other: PublicJwk): boolean {
  return one.crv === other.crv && one.x === other.x && one.y === other.y
}
