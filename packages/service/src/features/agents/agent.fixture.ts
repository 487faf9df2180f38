import { generateKeyPair } from '@agent-exchange/crypto'
import type { AgentRegistration, PublicKeyRequest } from '@agent-exchange/protocol'
import type { Database } from '@agent-exchange/database'

/** For tests: inserts bare organizations. */
export async function seedOrganizations(db: Database, ...ids: string[]): Promise<void> {
  for (const id of ids) {
    await db`insert into organization (organization_id, name, created_at) values (${id}, ${id}, now())`
  }
}

/** For tests: a key request with a new key pair. */
export async function keyRequest(
  key_id: string,
  changes: Partial<PublicKeyRequest> = {},
): Promise<PublicKeyRequest> {
  const use = changes.use ?? 'signing'
  const { publicKey } = await generateKeyPair(use)
  const valid_from = '2026-01-01T00:00:00Z'
  return { key_id, use, format: 'jwk', public_key: { ...publicKey.jwk }, valid_from, ...changes }
}

/** For tests: a registration of an agent of org_acme. */
export function registration(changes: Partial<AgentRegistration> = {}): AgentRegistration {
  return {
    organization_id: 'org_acme',
    agent_id: 'agent_one',
    implementation: 'planner',
    implementation_version: '1.0.0',
    protocol_versions: ['svc/1.0'],
    skill_versions: { skill_align: '1.0.0' },
    transport_modes: ['native'],
    keys: [],
    ...changes,
  }
}
