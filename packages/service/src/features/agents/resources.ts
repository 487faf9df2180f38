import type { AgentResource, PublicJwk, PublicKey } from '@agent-exchange/protocol'
import type { AgentRow } from './agent-store.ts'
import type { KeyRow } from './key-store.ts'

/** A key as published in directories. */
export function toPublicKey(row: KeyRow): PublicKey {
  return {
    key_id: row.key_id,
    use: row.use,
    format: 'jwk',
    public_key: JSON.parse(row.public_jwk) as PublicJwk,
    valid_from: row.valid_from,
    ...(row.replaces_key_id !== null && { replaces_key_id: row.replaces_key_id }),
    status: row.status,
    registered_at: row.registered_at,
    ...(row.revoked_at !== null && { revoked_at: row.revoked_at }),
    ...(row.invalid_from !== null && { invalid_from: row.invalid_from }),
  }
}

export function toAgent(row: AgentRow, keys: readonly KeyRow[]): AgentResource {
  return {
    organization_id: row.organization_id,
    agent_id: row.agent_id,
    implementation: row.implementation,
    implementation_version: row.implementation_version,
    protocol_versions: row.protocol_versions,
    skill_versions: JSON.parse(row.skill_versions) as Record<string, string>,
    transport_modes: row.transport_modes,
    keys: keys.map(toPublicKey),
    status: row.status,
    registered_at: row.registered_at,
    certification_status: row.certification_status,
  }
}

/** OBJ-19: writes a UTC offset of +00:00 as Z and keeps all fractional digits. */
export function inZulu(timestamp: string): string {
  return timestamp.replace(/\+00:00$/, 'Z')
}
