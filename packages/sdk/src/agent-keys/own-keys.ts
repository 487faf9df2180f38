import { importPublicJwk, type Party, type SigningKey } from '@agent-exchange/crypto'
import { currentKey } from './make-keys.ts'
import type { AgentContext } from '../context.ts'
import type { OwnKey } from '../keys/key-store.ts'

/** The current signing key. */
export async function currentSigningKey(context: AgentContext): Promise<SigningKey> {
  const { keyId } = await currentKey(context.keys, 'signing')
  return { keyId, key: await context.keys.privateKey(keyId) }
}

/** This agent as a recipient of its own package, so that it can read what it sent. */
export async function ownParty(context: AgentContext): Promise<Party> {
  const { keyId, publicJwk } = await currentKey(context.keys, 'encryption')
  return { kid: keyId, publicKey: await importPublicJwk(publicJwk, { use: 'encryption' }) }
}

/** The first of the named keys that this store has, in any stage. */
export async function ownKeyAmong(
  { keys }: AgentContext,
  keyIds: readonly string[],
): Promise<OwnKey | undefined> {
  const own = (await keys.list()).filter(({ role }) => role === 'encryption')
  return own.find(({ keyId }) => keyIds.includes(keyId))
}
