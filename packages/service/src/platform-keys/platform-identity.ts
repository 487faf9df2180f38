import {
  canonicalBytes,
  encodeBase64url,
  importPrivateJwk,
  jwkThumbprint,
  type PublicJwk,
  signEs256,
} from '@agent-exchange/crypto'
import { type DeploymentProfile, PROTOCOL_VERSION } from '@agent-exchange/protocol'
import type { Transaction } from '@agent-exchange/database'
import type { NewId } from '../kernel/ids.ts'
import { appendKeyEvents, type KeyEvent } from '../kernel/key-events.ts'
import { type PlatformKeyRow, publicJwkOf } from './key-store.ts'
import type { KeyVault } from './key-vault.ts'

const NAME = 'Agent Exchange platform'
const IMPLEMENTATION = 'agent-exchange'
const IMPLEMENTATION_VERSION = '1'

interface DirectorySettings {
  readonly profile: DeploymentProfile
  readonly newId: NewId
  readonly vault: KeyVault
}

/**
 * The platform is an agent in the directory (O-42), so that its statements and the signatures of skills verify with
 * getAgentKeys (ID-10). Earlier keys remain there with status and history.
 */
export function statementKeyDirectory({ profile, newId, vault }: DirectorySettings) {
  const { organization_id, agent_id } = profile['O-42']

  async function event(
    tx: Transaction,
    keyId: string,
    kind: KeyEvent['kind'],
    now: string,
    details = {},
  ): Promise<void> {
    const common = { eventId: newId('keyevent'), agentId: agent_id, actor: agent_id, recordedAt: now }
    await appendKeyEvents(tx, [{ ...common, keyId, kind, details }])
  }

  async function addKey(tx: Transaction, key: PlatformKeyRow, now: string, replaces?: string): Promise<void> {
    const { count } = await tx`
      insert into agent_key
        (agent_id, key_id, use, public_jwk, thumbprint, valid_from, replaces_key_id, status, registered_at)
      values (${agent_id}, ${key.key_id}, 'signing', ${key.public_jwk}, ${await jwkThumbprint(publicJwkOf(key))},
              ${key.valid_from}, ${replaces ?? null}, 'active', ${now})
      on conflict do nothing`
    if (count > 0)
      await event(tx, key.key_id, 'registered', now, replaces ? { replaces_key_id: replaces } : {})
  }

  return {
    /** Idempotent. */
    async ensureIdentity(tx: Transaction, now: string): Promise<void> {
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
    },

    /** Idempotent. */
    async ensureListed(tx: Transaction, keys: readonly PlatformKeyRow[], now: string): Promise<void> {
      for (const key of keys) await addKey(tx, key, now)
    },

    /** Directory changes that go with changes of statement keys. */
    hooks: {
      async onMade(
        tx: Transaction,
        key: PlatformKeyRow,
        replaced: PlatformKeyRow | undefined,
      ): Promise<void> {
        const now = key.created_at
        await addKey(tx, key, now, replaced?.key_id)
        if (!replaced || profile['O-05'].replaced_key_status !== 'retiring') return
        await tx`
          update agent_key set status = 'retiring'
          where agent_id = ${agent_id} and key_id = ${replaced.key_id} and status = 'active'`
        await event(tx, replaced.key_id, 'retiring', now, { replaced_by: key.key_id })
      },
      async onRevoked(tx: Transaction, keyId: string, now: string): Promise<void> {
        await tx`
          update agent_key set status = 'revoked', revoked_at = ${now}, invalid_from = ${now}
          where agent_id = ${agent_id} and key_id = ${keyId}`
        await event(tx, keyId, 'revoked', now, { invalid_from: now })
      },
      /** Decision 0014: the id carries a signature by the predecessor, so agents that pinned it accept the key. */
      keyIdOf: (predecessor: PlatformKeyRow | undefined) =>
        predecessor &&
        (async (publicJwk: PublicJwk) => {
          const thumbprint = await jwkThumbprint(publicJwk)
          const purpose = 'aex-key-introduction'
          const about = canonicalBytes({ purpose, organization_id, agent_id, use: 'signing', thumbprint })
          const introducer = await importPrivateJwk(await vault.privateJwk(predecessor), { use: 'signing' })
          return `key_${thumbprint}.${encodeBase64url(await signEs256(introducer, about))}`
        }),
    },
  }
}

/** Otherwise an organization that registered the id first could sign as the platform. */
async function requireOwnAgent(tx: Transaction, organizationId: string, agentId: string): Promise<void> {
  const [agent] = await tx<{ organization_id: string }[]>`
    select organization_id from agent where agent_id = ${agentId}`
  if (agent?.organization_id !== organizationId) {
    throw new Error(`${agentId} belongs to another organization; choose another agent_id for O-42.`)
  }
}
