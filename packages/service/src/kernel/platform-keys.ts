import { importPrivateJwk, type PrivateKey, signDetached } from '@agent-exchange/crypto'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import { LRUCache } from 'lru-cache'
import type { Database } from '../db/database.ts'
import { lockNames } from './named-locks.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from './clock.ts'
import type { NewId } from './ids.ts'
import { statementKeyDirectory } from './platform-keys-identity.ts'
import { type RotatingKeys, rotatingKeys } from './platform-keys-rotating.ts'
import { listUsableKeys } from './platform-keys-store.ts'
import { tokenKeySource, type TokenKeySource } from './platform-keys-token.ts'
import { type KeyVault, keyVault } from './platform-keys-vault.ts'
import { PLATFORM_KEYS_LOCK, type WebhookKeys, webhookKeys } from './platform-keys-webhook.ts'
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
}

export interface PlatformKeySettings {
  readonly db: Database
  readonly masterKey: Uint8Array
  readonly profile: DeploymentProfile
  readonly clock: Clock
  readonly newId: NewId
}

/**
 * Decrypts the platform's keys and makes missing ones. Processes that start together are serialized and get the same
 * keys; a wrong master key is a MasterKeyError.
 */
export async function openPlatformKeys(settings: PlatformKeySettings): Promise<PlatformKeys> {
  const { db, masterKey, profile, clock, newId } = settings
  const now = clock.now()
  const vault = keyVault(masterKey, newId)
  const webhook = webhookKeys(profile, vault)
  const { access_token_seconds, clock_skew_seconds, key_lead_seconds } = profile['O-08']
  const common = { db, vault, clock }
  const token = rotatingKeys({
    ...common,
    purpose: 'token',
    times: { leadSeconds: key_lead_seconds, keepSeconds: access_token_seconds + clock_skew_seconds },
  })
  const directory = statementKeyDirectory({ profile, newId, vault })
  const statement = rotatingKeys({
    ...common,
    purpose: 'statement',
    times: { leadSeconds: profile['O-42'].key_lead_seconds, keepSeconds: 0 },
    ...directory.hooks,
  })
  await inTransaction(db, async (tx) => {
    await lockNames(tx, 'key', [PLATFORM_KEYS_LOCK])
    // Every stored key must decrypt before a key is added, or one database would hold keys of two master keys.
    for (const row of await listUsableKeys(tx, 'webhook', now)) vault.privateJwk(row)
    await directory.ensureIdentity(tx, now)
    await token.ensure(tx, now)
    await directory.ensureListed(tx, await statement.ensure(tx, now), now)
    await webhook.maintain(tx, now)
  })
  return {
    signer: platformSigner(statement, vault),
    tokenKeys: tokenKeySource(token, vault),
    webhook,
    token,
    statement,
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
      if (!key) opened.set(row.key_id, (key = importPrivateJwk(vault.privateJwk(row), { use: 'signing' })))
      return signDetached(content, { member, key: await key, keyId: row.key_id })
    },
  }
}
