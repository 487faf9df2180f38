import {
  connect,
  ExchangeError,
  makeAgentKeys,
  readInvitation,
  redeemInvitation,
  type Registration,
} from '@agent-exchange/sdk'
import { openPostgresKeyStore } from '../stores/key-store.ts'
import { listAgents, saveAgent, type RegisteredAgent } from './agent-registry.ts'
import type { AgentDependencies } from './open-agent.ts'

export interface NewAgent {
  /** The text from the operator of the exchange. */
  readonly invitation: string
  /** Needed where the invitation names no agent. */
  readonly agentId?: string
  readonly registration: Registration
}

export interface AddedAgent extends RegisteredAgent {
  /** For comparison over another channel. */
  readonly fingerprint: string
}

/**
 * Joins an exchange by an invitation: keys are made in the database or in the module, then client and agent are
 * registered. Run it again after a failure: it continues with the same keys. Running instances notice the agent.
 */
export async function addAgent(deps: AgentDependencies, given: NewAgent): Promise<AddedAgent> {
  const { db, box, now, keyProvider, fetch } = deps
  const invitation = readInvitation(given.invitation)
  const { baseUrl, organizationId } = invitation
  const agentId = given.agentId ?? invitation.agentId
  if (agentId === undefined)
    throw new ExchangeError('input_invalid', {
      what: 'The invitation names no agent. Give one with --agent.',
    })
  if (invitation.agentId !== undefined && invitation.agentId !== agentId)
    throw new ExchangeError('input_invalid', { what: `The invitation is for ${invitation.agentId} only.` })
  const known = (await listAgents(db)).find((each) => each.agentId === agentId)
  const isOther = known && (known.organizationId !== organizationId || known.baseUrl !== baseUrl)
  if (isOther || (known && known.clientId !== ''))
    throw new ExchangeError('input_invalid', {
      what: `This gateway runs ${agentId} of ${known?.organizationId} already.`,
    })
  const identity = { organizationId, agentId }
  const [skill] = Object.entries(given.registration.skillVersions ?? {})
  const settings = {
    ...(skill && { defaults: { skill: { id: skill[0], version: skill[1] } } }),
    ...known?.settings,
  }
  const agent = { agentId, organizationId, baseUrl, clientId: '', settings }
  const addedAt = now().toISOString()
  await saveAgent(db, agent, addedAt)
  const keys = openPostgresKeyStore(db, agentId, { box, ...(keyProvider && { provider: keyProvider }) })
  const { client } = await makeAgentKeys(keys, { identity, now })
  const transport = { now, ...(fetch && { fetch }) }
  const { clientId } = await redeemInvitation({
    invitation,
    agentId,
    publicJwk: client.publicJwk,
    ...transport,
  })
  const connected = await connect({ baseUrl, clientId, identity, keys, ...transport })
  await connected.register(given.registration)
  await saveAgent(db, { ...agent, clientId }, addedAt)
  return { ...agent, clientId, fingerprint: await connected.fingerprint() }
}
