import { generateKeyPair, type KeyPair } from '@agent-exchange/crypto'
import { isTaken } from '../run/expect.ts'
import { NotJudged } from '../run/finding.ts'
import type { Organization } from '../run/organization.ts'

export interface AgentKey {
  readonly keyId: string
  readonly pair: KeyPair
}

export interface AgentIdentity {
  readonly agentId: string
  readonly signing: AgentKey
  readonly encryption: AgentKey
}

/** An agent that the kit registered, with the organization that acts for it. */
export interface Agent extends AgentIdentity {
  readonly organization: Organization
}

/** Old enough to be valid for everything that a run sends. */
const VALID_FROM = '2025-01-01T00:00:00Z'

export async function newIdentity(newId: (prefix: string) => string): Promise<AgentIdentity> {
  const [signing, encryption] = await Promise.all([generateKeyPair('signing'), generateKeyPair('encryption')])
  return {
    agentId: newId('agent'),
    signing: { keyId: newId('sig'), pair: signing },
    encryption: { keyId: newId('enc'), pair: encryption },
  }
}

export const keyBody = ({ keyId, pair }: AgentKey, use: 'signing' | 'encryption') => ({
  key_id: keyId,
  use,
  format: 'jwk',
  public_key: pair.publicKey.jwk,
  valid_from: VALID_FROM,
})

/** The body of a registration. */
export const registrationOf = (organizationId: string, { agentId, signing, encryption }: AgentIdentity) => ({
  organization_id: organizationId,
  agent_id: agentId,
  implementation: 'aex-conformance',
  implementation_version: '0.1.0',
  protocol_versions: ['svc/1.0'],
  skill_versions: { skill_conformance: '1.0.0' },
  transport_modes: ['native', 'ds_x'],
  keys: [keyBody(signing, 'signing'), keyBody(encryption, 'encryption')],
})

/** Registers a further agent of an organization, whose registration may be unusual; undefined if it is refused. */
export async function registerIfAccepted(
  organization: Organization,
  newId: (prefix: string) => string,
  change: object = {},
): Promise<Agent | undefined> {
  const identity = await newIdentity(newId)
  const body = { ...registrationOf(organization.organizationId, identity), ...change }
  const answer = await organization.call('POST', '/v1/agents/register', body)
  return isTaken(answer, 201, 'registering a further agent') ? { ...identity, organization } : undefined
}

/** The same for a check that needs the agent. */
export async function registerAgent(
  organization: Organization,
  newId: (prefix: string) => string,
  change: object = {},
): Promise<Agent> {
  const agent = await registerIfAccepted(organization, newId, change)
  if (!agent) throw new NotJudged(`the service refuses an agent with ${JSON.stringify(change)}`)
  return agent
}
