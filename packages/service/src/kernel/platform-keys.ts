import { importPrivateJwk, type PrivateJwk, type PublicJwk, signDetached } from '@agent-exchange/crypto'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Database, Transaction } from '../db/database.ts'
import { lockNames } from '../db/locks.ts'
import { inTransaction } from '../db/transaction.ts'
import { type Clock, DAY_SECONDS } from './clock.ts'
import type { NewId } from './ids.ts'
import { ensurePlatformIdentity } from './platform-keys-identity.ts'
import {
  insertKey,
  listUsableKeys,
  type PlatformKeyPurpose,
  type PlatformKeyRow,
  publicJwkOf,
} from './platform-keys-store.ts'
import { type KeyVault, keyVault } from './platform-keys-vault.ts'
import { PLATFORM_KEYS_LOCK, type WebhookKeys, webhookKeys } from './platform-keys-webhook.ts'
import type { PlatformSigner } from './platform-signer.ts'

/** Keys for tokens and statements have no announced end; this only fills the column. */
const LONG_VALIDITY_SECONDS = 3_650 * DAY_SECONDS

/** A key of the authorization server. The private part is for its signer alone. */
export interface TokenKey {
  readonly keyId: string
  readonly publicJwk: PublicJwk
  readonly privateJwk: PrivateJwk
}

export interface PlatformKeys {
  /** Signs acceptance statements and skill releases. */
  readonly signer: PlatformSigner
  /** The first one signs, all of them verify. */
  readonly tokenKeys: readonly TokenKey[]
  readonly webhook: WebhookKeys
}

export interface PlatformKeySettings {
  readonly db: Database
  readonly masterKey: Uint8Array
  readonly profile: DeploymentProfile
  readonly clock: Clock
  readonly newId: NewId
}

/**
 * Opens the platform's keys, and makes those that are missing. Processes that start together wait for each
 * other and end up with the same keys; a wrong master key is a MasterKeyError.
 */
export async function openPlatformKeys(settings: PlatformKeySettings): Promise<PlatformKeys> {
  const { db, masterKey, profile, clock, newId } = settings
  const now = clock.now()
  const vault = keyVault(masterKey, newId)
  const webhook = webhookKeys(profile, vault)
  const found = await inTransaction(db, async (tx) => {
    await lockNames(tx, 'key', [PLATFORM_KEYS_LOCK])
    // All that is there has to open before anything is added, or two master keys would share one database.
    for (const row of await listUsableKeys(tx, 'webhook', now)) vault.privateJwk(row)
    const token = await findOrMake(tx, 'token', vault, now)
    const statement = await findOrMake(tx, 'statement', vault, now)
    await ensurePlatformIdentity(tx, statement, { profile, newId, now })
    await webhook.maintain(tx, now)
    return { token, statement }
  })
  return {
    signer: await platformSigner(found.statement, vault),
    tokenKeys: found.token.map((row) => ({
      keyId: row.key_id,
      publicJwk: publicJwkOf(row),
      privateJwk: vault.privateJwk(row),
    })),
    webhook,
  }
}

async function findOrMake(
  tx: Transaction,
  purpose: PlatformKeyPurpose,
  vault: KeyVault,
  now: string,
): Promise<PlatformKeyRow[]> {
  const rows = await listUsableKeys(tx, purpose, now)
  for (const row of rows) vault.privateJwk(row)
  if (rows.length > 0) return rows
  const row = await vault.newKey({ purpose, validFrom: now, validitySeconds: LONG_VALIDITY_SECONDS, now })
  await insertKey(tx, row)
  return [row]
}

async function platformSigner(rows: readonly PlatformKeyRow[], vault: KeyVault): Promise<PlatformSigner> {
  const [row] = rows
  if (!row) throw new Error('There is no statement key.')
  const key = await importPrivateJwk(vault.privateJwk(row), { use: 'signing' })
  return {
    keyId: row.key_id,
    sign: (statement, member) => signDetached(statement, { member, key, keyId: row.key_id }),
  }
}
