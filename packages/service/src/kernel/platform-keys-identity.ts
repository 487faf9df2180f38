import { jwkThumbprint } from '@agent-exchange/crypto'
import { type DeploymentProfile, PROTOCOL_VERSION } from '@agent-exchange/protocol'
import type { Transaction } from '../db/database.ts'
import type { NewId } from './ids.ts'
import { type PlatformKeyRow, publicJwkOf } from './platform-keys-store.ts'

const NAME = 'Agent Exchange platform'
const IMPLEMENTATION = 'agent-exchange'
const IMPLEMENTATION_VERSION = '1'

/** Who the platform is in its own directory (O-42), and since when. */
interface Identity {
  readonly profile: DeploymentProfile
  readonly newId: NewId
  readonly now: string
}

/**
 * The platform stands in the directory like everybody else, so that a skill's manifest signature verifies
 * against getAgentKeys (ID-10). Repeats do nothing.
 */
export async function ensurePlatformIdentity(
  tx: Transaction,
  statementKeys: readonly PlatformKeyRow[],
  { profile, newId, now }: Identity,
): Promise<void> {
  const { organization_id, agent_id } = profile['O-42']
  const { initial_agent_status, initial_certification_status } = profile['O-05']
  await tx`
    insert into organization (organization_id, name, created_at) values (${organization_id}, ${NAME}, ${now})
    on conflict do nothing`
  await tx`insert into notification_stream (organization_id) values (${organization_id}) on conflict do nothing`
  await tx`
    insert into agent
      (agent_id, organization_id, implementation, implementation_version, protocol_versions, skill_versions,
       transport_modes, status, certification_status, registered_at, updated_at)
    values
      (${agent_id}, ${organization_id}, ${IMPLEMENTATION}, ${IMPLEMENTATION_VERSION}, ${[PROTOCOL_VERSION]}, '{}',
       '{}', ${initial_agent_status}, ${initial_certification_status}, ${now}, ${now})
    on conflict do nothing`
  await requireOwnAgent(tx, organization_id, agent_id)
  for (const key of statementKeys) {
    const { count } = await tx`
      insert into agent_key (agent_id, key_id, use, public_jwk, thumbprint, valid_from, status, registered_at)
      values (${agent_id}, ${key.key_id}, 'signing', ${key.public_jwk}, ${await jwkThumbprint(publicJwkOf(key))},
              ${key.valid_from}, 'active', ${now})
      on conflict do nothing`
    if (count === 0) continue
    await tx`
      insert into agent_key_event (event_id, agent_id, key_id, kind, recorded_at, actor, details)
      values (${newId('keyevent')}, ${agent_id}, ${key.key_id}, 'registered', ${now}, ${agent_id}, '{}')`
  }
}

/** A customer who took the id first would otherwise be handed the platform's voice. */
async function requireOwnAgent(tx: Transaction, organizationId: string, agentId: string): Promise<void> {
  const [agent] = await tx<{ organization_id: string }[]>`
    select organization_id from agent where agent_id = ${agentId}`
  if (agent?.organization_id !== organizationId) {
    throw new Error(`${agentId} belongs to another organization; choose another agent_id for O-42.`)
  }
}
