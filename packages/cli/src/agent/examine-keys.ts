import { importPublicJwk, jwkThumbprint } from '@agent-exchange/crypto'
import type { PublicKey } from '@agent-exchange/protocol'
import type { OwnKey } from '@agent-exchange/sdk'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { CommandFailure } from '../failure.ts'
import { nextStep, type Place } from './next-step.ts'

/** The keys in use are registered, and this process can use them. */
export async function examineOwnKeys({ context, identity }: FolderAgent, place: Place): Promise<string> {
  const { keys: shown } = await context.connection.call('getAgentKeys', {
    path: { agent_id: identity.agentId },
  })
  const own = await context.keys.list()
  for (const key of own.filter(({ role, stage }) => role !== 'client' && stage === 'current')) {
    const entry = shown.find(({ key_id }) => key_id === key.keyId)
    if (!entry)
      throw new CommandFailure(
        `The ${nameOf(key)} is not registered: the key store is not that of the registered agent. ` +
          'Restore the latest keys.json of this agent.',
      )
    await requireSame(key, entry)
    if (entry.status !== 'active') throw new CommandFailure(replacedBy(key, entry, { own, place }))
    await context.keys.privateKey(key.keyId)
  }
  return 'signing and encryption key are registered, active and the same'
}

async function requireSame(key: OwnKey, { public_key }: PublicKey): Promise<void> {
  const { jwk } = await importPublicJwk(public_key)
  if ((await jwkThumbprint(key.publicJwk)) === (await jwkThumbprint(jwk))) return
  throw new CommandFailure(
    `The directory shows another key under the id of the ${nameOf(key)}. Do not send; inform the operator.`,
  )
}

/** The remedy depends on which side completed which step of a rotation. */
function replacedBy(
  key: OwnKey,
  { status }: PublicKey,
  { own, place }: { readonly own: readonly OwnKey[]; readonly place: Place },
): string {
  const isUnderWay = own.some(({ role, stage }) => role === key.role && stage === 'next')
  const advice = isUnderWay
    ? `Finish the rotation that was interrupted: ${nextStep(place, 'keys', 'rotate', key.role)}`
    : status === 'revoked'
      ? `Replace it: ${nextStep(place, 'keys', 'rotate', key.role)}`
      : 'It was replaced by a key that this folder does not have: restore the latest keys.json of this agent.'
  return `The ${nameOf(key)} is ${status ?? 'unknown'} at the exchange. ${advice}`
}

const nameOf = ({ role, keyId }: OwnKey) => `${role} key ${keyId}`
