import { randomBytes } from 'node:crypto'
import { generateKeyPair, type KeyUse } from '@agent-exchange/crypto'
import type { Answer, Organization } from './test-world.ts'

/** Another agent of the same organization, with its own keys and the same client. */
export async function secondAgent(organization: Organization, name = 'second'): Promise<Organization> {
  const agentId = `agent_${name}_${randomBytes(8).toString('hex')}`
  const [signing, encryption] = await Promise.all([generateKeyPair('signing'), generateKeyPair('encryption')])
  const agent: Organization = {
    ...organization,
    agentId,
    signing: { keyId: `sig_${name}`, pair: signing },
    encryption: { keyId: `enc_${name}`, pair: encryption },
  }
  const registration = {
    ...organization.registration(),
    agent_id: agentId,
    keys: [keyBody(agent.signing, 'signing'), keyBody(agent.encryption, 'encryption')],
  }
  must(await organization.post('/v1/agents/register', registration))
  return { ...agent, registration: () => registration }
}

interface NewKey {
  readonly keyId?: string
  readonly validFrom?: string
  readonly replaces?: string
}

/** Registers another key of the agent and returns it. */
export async function addKey(
  organization: Organization,
  use: KeyUse,
  { keyId = `${use}_${randomBytes(8).toString('hex')}`, validFrom, replaces }: NewKey = {},
): Promise<Organization['signing']> {
  const key = { keyId, pair: await generateKeyPair(use) }
  const body = {
    ...keyBody(key, use),
    ...(validFrom !== undefined && { valid_from: validFrom }),
    ...(replaces !== undefined && { replaces_key_id: replaces }),
  }
  must(await organization.post(`/v1/agents/${organization.agentId}/keys`, body))
  return key
}

export async function revokeKey(
  organization: Organization,
  keyId: string,
  invalidFrom: string,
): Promise<Answer> {
  const path = `/v1/agents/${organization.agentId}/keys/${keyId}/revoke`
  const body = { invalid_from: invalidFrom, reason_code: 'compromise', evidence_reference: 'case_1' }
  return organization.post(path, body)
}

/** Approves a connector of the organization and returns its id. */
export async function approveConnector({ world, organizationId }: Organization): Promise<string> {
  const connectorId = `connector_${randomBytes(8).toString('hex')}`
  const answer = await world.operate('POST', '/connectors', {
    organization_id: organizationId,
    connector_id: connectorId,
    participant_id: `did:web:${organizationId}`,
    endpoint: 'https://connector.example/protocol',
  })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return connectorId
}

function keyBody({ keyId, pair }: Organization['signing'], use: KeyUse) {
  return {
    key_id: keyId,
    use,
    format: 'jwk' as const,
    public_key: pair.publicKey.jwk,
    valid_from: '2026-01-01T00:00:00Z',
  }
}

function must(answer: Answer): void {
  if (answer.status >= 300) throw new Error(answer.text)
}
