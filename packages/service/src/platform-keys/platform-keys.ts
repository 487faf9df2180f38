import { type PrivateKey, signDetached } from '@agent-exchange/crypto'
import type { KeyModule } from '@agent-exchange/pkcs11'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import { LRUCache } from 'lru-cache'
import { type Database, inTransaction, type Transaction } from '@agent-exchange/database'
import { type Clock, DAY_SECONDS } from '@agent-exchange/server/clock'
import type { MasterKeys } from '@agent-exchange/server/master-key'
import { lockNames } from '../kernel/named-locks.ts'
import type { NewId } from '../kernel/ids.ts'
import { logPlatformKeys, type PlatformAgent } from './platform-key-events.ts'
import { type LogKey, logKeyVault } from './log-keys.ts'
import { type KeyHooks, type RotatingKeys, rotatingKeys } from './rotating-keys.ts'
import { listUsableKeys, type PlatformKeyRow } from './key-store.ts'
import { tokenKeySource, type TokenKeySource } from './token-keys.ts'
import { type KeyVault, keyVault } from './key-vault.ts'
import { PLATFORM_KEYS_LOCK, type WebhookKeys, webhookKeys } from './webhook-keys.ts'
import { type PlatformSecrets, platformSecrets } from './platform-secrets.ts'
import type { PlatformSigner } from './platform-signer.ts'

const MAXIMUM_OPENED_KEYS = 16

export interface PlatformKeys {
  /** Signs acceptance statements and skill releases. */
  readonly signer: PlatformSigner
  /** For the authorization server and the token verifier. */
  readonly tokenKeys: TokenKeySource
  readonly webhook: WebhookKeys
  readonly token: RotatingKeys
  readonly statement: RotatingKeys
  /** Ed25519 keys that sign checkpoints of the transparency log; all usable ones sign. */
  readonly log: RotatingKeys
  readonly openLogKey: (row: PlatformKeyRow) => Promise<LogKey>
  readonly secrets: PlatformSecrets
}

export interface IdentitySettings {
  readonly profile: DeploymentProfile
  readonly newId: NewId
  readonly vault: KeyVault
}

/** The platform as an agent in the directory (O-42). The directory belongs to a feature, so it is given. */
export interface PlatformIdentity {
  /** Idempotent. */
  readonly ensureIdentity: (tx: Transaction, now: string) => Promise<void>
  /** Idempotent. */
  readonly ensureListed: (tx: Transaction, keys: readonly PlatformKeyRow[], now: string) => Promise<void>
  /** Directory changes that go with changes of statement keys. */
  readonly hooks: Required<KeyHooks>
}

export interface PlatformKeySettings {
  readonly identity: (settings: IdentitySettings) => PlatformIdentity
  readonly db: Database
  /** Those that the process has now: a key file may change. */
  readonly masterKeys: () => MasterKeys
  /** Holds the keys that are made from now on. Without it, the database holds them, encrypted. */
  readonly module?: KeyModule | undefined
  readonly profile: DeploymentProfile
  readonly clock: Clock
  readonly newId: NewId
}

/**
 * Decrypts the platform's keys and makes missing ones. Processes that start together are serialized and get the same
 * keys; a wrong master key is a MasterKeyError.
 */
export async function openPlatformKeys(settings: PlatformKeySettings): Promise<PlatformKeys> {
  const { db, masterKeys, module, profile, clock, newId, identity } = settings
  const now = clock.now()
  const secrets = platformSecrets({ db, masterKeys })
  const vault = keyVault({ secrets, newId, module })
  const logVault = logKeyVault({ secrets, newId, module })
  const platform = { agentId: profile['O-42'].agent_id, newId }
  const webhook = loggedWebhookKeys(webhookKeys(profile, vault), platform)
  const { access_token_seconds, clock_skew_seconds, key_lead_seconds } = profile['O-08']
  const common = { db, vault, clock }
  const token = rotatingKeys({
    ...common,
    purpose: 'token',
    times: { leadSeconds: key_lead_seconds, keepSeconds: access_token_seconds + clock_skew_seconds },
    onChanged: (tx, at) => logPlatformKeys(tx, platform, at),
  })
  const log = rotatingKeys({
    ...common,
    vault: logVault,
    purpose: 'log',
    times: { leadSeconds: 0, keepSeconds: profile['O-07'].transparency_key_overlap_days * DAY_SECONDS },
    onChanged: (tx, at) => logPlatformKeys(tx, platform, at),
  })
  const directory = identity({ profile, newId, vault })
  const statement = rotatingKeys({
    ...common,
    purpose: 'statement',
    times: { leadSeconds: profile['O-42'].key_lead_seconds, keepSeconds: 0 },
    ...directory.hooks,
  })
  await inTransaction(db, async (tx) => {
    await lockNames(tx, 'key', [PLATFORM_KEYS_LOCK])
    await secrets.open(tx, now)
    // Every stored key must open before a key is added, or one database would hold keys of two data keys.
    for (const row of await listUsableKeys(tx, 'webhook', now)) await vault.open(row)
    await directory.ensureIdentity(tx, now)
    await token.ensure(tx, now)
    await log.ensure(tx, now)
    await directory.ensureListed(tx, await statement.ensure(tx, now), now)
    // Also logs keys from before the transparency log.
    await webhook.maintain(tx, now)
  })
  return {
    signer: platformSigner(statement, vault),
    tokenKeys: tokenKeySource(token, vault),
    webhook,
    token,
    statement,
    log,
    openLogKey: (row) => logVault.open(row),
    secrets,
  }
}

/** Every change of a webhook key is in the transparency log, by the transaction that makes it. */
function loggedWebhookKeys(keys: WebhookKeys, platform: PlatformAgent): WebhookKeys {
  return {
    ...keys,
    async rotate(tx, now) {
      const made = await keys.rotate(tx, now)
      await logPlatformKeys(tx, platform, now)
      return made
    },
    async revoke(tx, keyId, now) {
      const revoked = await keys.revoke(tx, keyId, now)
      await logPlatformKeys(tx, platform, now)
      return revoked
    },
    async maintain(tx, now) {
      const result = await keys.maintain(tx, now)
      await logPlatformKeys(tx, platform, now)
      return result
    },
  }
}

function platformSigner(statement: RotatingKeys, vault: KeyVault): PlatformSigner {
  // The key material of an id never changes.
  const opened = new LRUCache<string, Promise<PrivateKey>>({ max: MAXIMUM_OPENED_KEYS })
  return {
    async sign(content, member) {
      const [row] = (await statement.current()).keys
      if (!row) throw new Error('There is no statement key.')
      let key = opened.get(row.key_id)
      if (!key) {
        opened.set(row.key_id, (key = vault.open(row)))
        key.catch(() => opened.delete(row.key_id))
      }
      return signDetached(content, { member, key: await key, keyId: row.key_id })
    },
  }
}
