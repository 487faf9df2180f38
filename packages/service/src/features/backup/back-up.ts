import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Queries } from '@agent-exchange/database'
import * as embedded from '@agent-exchange/database/embedded'
import { fingerprint, knownKeys, type MasterKeys } from '@agent-exchange/server/master-key'
import { wrappingKeyId } from '../../platform-keys/platform-secrets.ts'

const MASTER_KEY = 'master-key'
const OPERATOR_TOKEN = 'operator-token'
/** Files of the data folder that are secrets and no part of the database. */
export const KEY_FILES = [MASTER_KEY, OPERATOR_TOKEN] as const

interface ExchangeBackupOptions extends Omit<embedded.BackupOptions, 'keyFiles' | 'keyFingerprint'> {
  readonly masterKeys: MasterKeys
  /** Puts the master key and the operator token beside the data; whoever has the backup then has everything. */
  readonly withKeys: boolean
}

/** Backs up the embedded database of an exchange. Without its keys it is of no use to whoever lost the master key. */
export async function backUp(options: ExchangeBackupOptions): Promise<embedded.BackupManifest> {
  const { dataDirectory, masterKeys, withKeys } = options
  return embedded.backUp({
    ...options,
    // During a rotation the database may need either of the configured keys.
    keyFingerprint: async (db) => (await neededKey(db)) ?? fingerprint(masterKeys.current),
    ...(withKeys && { keyFiles: secretFiles(dataDirectory, masterKeys) }),
  })
}

async function neededKey(db: Queries): Promise<string | undefined> {
  const [table] = await db<{ name: string | null }[]>`select to_regclass('wrapped_secret')::text as name`
  return typeof table?.name === 'string' ? wrappingKeyId(db) : undefined
}

function secretFiles(dataDirectory: string, masterKeys: MasterKeys): Record<string, string> {
  const lines = knownKeys(masterKeys).map((key) => `${Buffer.from(key).toString('base64url')}\n`)
  const token = join(dataDirectory, OPERATOR_TOKEN)
  return {
    [MASTER_KEY]: lines.join(''),
    ...(existsSync(token) && { [OPERATOR_TOKEN]: readFileSync(token, 'utf8') }),
  }
}
