import {
  canonicalBytes,
  encodeBase64url,
  jwkThumbprint,
  type PublicJwk,
  signEs256,
} from '@agent-exchange/crypto'
import { PROTOCOL_VERSION } from '@agent-exchange/protocol'
import type { Transaction } from '@agent-exchange/database'
import { appendKeyEvents, type KeyEvent } from '../../kernel/key-events.ts'
import { type PlatformKeyRow, publicJwkOf } from '../../platform-keys/key-store.ts'
import type { IdentitySettings, PlatformIdentity } from '../../platform-keys/platform-keys.ts'
import { insertOrganization } from '../organizations/organization-store.ts'
import { findAgent, insertAgent } from './agent-store.ts'
import { insertKeyOnce, markRevoked, retireActiveKey } from './key-store.ts'

const NAME = 'Agent Exchange platform'
const IMPLEMENTATION = 'agent-exchange'
const IMPLEMENTATION_VERSION = '1'

/**
 * The platform is an agent in the directory (O-42), so that its statements and the signatures of skills verify with
 * getAgentKeys (ID-10). Earlier keys remain there with status and history.
 */
export function platformIdentity({ profile, newId, vault }: IdentitySettings): PlatformIdentity {
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
    const isNew = await insertKeyOnce(tx, {
      agent_id,
      key_id: key.key_id,
      use: 'signing',
      public_jwk: key.public_jwk,
      thumbprint: await jwkThumbprint(publicJwkOf(key)),
      valid_from: key.valid_from,
      replaces_key_id: replaces ?? null,
      status: 'active',
      registered_at: now,
    })
    if (isNew) await event(tx, key.key_id, 'registered', now, replaces ? { replaces_key_id: replaces } : {})
  }

  return {
    /** Idempotent. */
    async ensureIdentity(tx: Transaction, now: string): Promise<void> {
      const { initial_agent_status, initial_certification_status } = profile['O-05']
      await insertOrganization(tx, { organizationId: organization_id, name: NAME, contact: undefined, now })
      await insertAgent(tx, {
        registration: {
          agent_id,
          organization_id,
          implementation: IMPLEMENTATION,
          implementation_version: IMPLEMENTATION_VERSION,
          protocol_versions: [PROTOCOL_VERSION],
          skill_versions: {},
          transport_modes: [],
        },
        status: initial_agent_status,
        certificationStatus: initial_certification_status,
        now,
      })
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
        await retireActiveKey(tx, { agentId: agent_id, keyId: replaced.key_id })
        await event(tx, replaced.key_id, 'retiring', now, { replaced_by: key.key_id })
      },
      async onRevoked(tx: Transaction, keyId: string, now: string): Promise<void> {
        await markRevoked(tx, { agent_id, key_id: keyId }, { revokedAt: now, invalidFrom: now })
        await event(tx, keyId, 'revoked', now, { invalid_from: now })
      },
      /** Decision 0014: the id carries a signature by the predecessor, so agents that pinned it accept the key. */
      keyIdOf: (predecessor: PlatformKeyRow | undefined) =>
        predecessor &&
        (async (publicJwk: PublicJwk) => {
          const thumbprint = await jwkThumbprint(publicJwk)
          const purpose = 'aex-key-introduction'
          const about = canonicalBytes({ purpose, organization_id, agent_id, use: 'signing', thumbprint })
          const introducer = await vault.open(predecessor)
          return `key_${thumbprint}.${encodeBase64url(await signEs256(introducer, about))}`
        }),
    },
  }
}

/** Otherwise an organization that registered the id first could sign as the platform. */
async function requireOwnAgent(tx: Transaction, organizationId: string, agentId: string): Promise<void> {
  const agent = await findAgent(tx, agentId)
  if (agent?.organization_id !== organizationId) {
    throw new Error(`${agentId} belongs to another organization; choose another agent_id for O-42.`)
  }
}
