import { CryptoError, openPackage, type OpenedPackage, type SealedPackage } from '@agent-exchange/crypto'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { unavailable } from '../keys/key-rules.ts'
import { ownKeyAmong } from './own-keys.ts'

/** Decrypts with the own key that the content is sealed for. A key that cannot be used now says nothing about the content. */
export async function unseal(
  context: AgentContext,
  jwe: SealedPackage,
  contentTypes: readonly string[],
): Promise<OpenedPackage> {
  const keyIds = jwe.recipients.map(({ header }) => header.kid)
  const own = await ownKeyAmong(context, keyIds)
  if (!own)
    throw new ExchangeError('key_missing', {
      what: 'It is sealed for keys that this agent does not have.',
      details: { keyIds },
    })
  const { keyId } = own
  const privateKey = await context.keys.privateKey(keyId)
  return openPackage(jwe, { kid: keyId, privateKey }, { contentTypes }).catch((cause: unknown) => {
    if (cause instanceof CryptoError && cause.code === 'key_unavailable') throw unavailable(keyId, cause)
    throw new ExchangeError('content_not_opened', { details: { keyId }, cause })
  })
}
