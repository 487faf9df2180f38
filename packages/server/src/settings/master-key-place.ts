import { randomBytes } from 'node:crypto'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasDatabase, makeDataDirectory } from '@agent-exchange/database/embedded'
import { ConfigError } from './config-error.ts'
import { readMasterKeyFile } from './master-key-text.ts'
import type { MasterKeySettings } from './read-master-keys.ts'
import { SettingError } from './settings-reader.ts'

export function masterKeyFile(dataDirectory: string): string {
  return join(dataDirectory, 'master-key')
}

/**
 * Completes the configuration with the keys of the key file: the configured one, or that of the data directory. Call
 * before the embedded database starts.
 */
export function withMasterKey<Config extends MasterKeySettings & { readonly dataDirectory: string }>(
  config: Config,
  variable = 'AEX_MASTER_KEY',
): Config & { readonly masterKey: Uint8Array } {
  const { masterKey, masterKeyFile: configured, dataDirectory } = config
  if (masterKey && configured === undefined) return { ...config, masterKey }
  // A worker process gets the path from the first process, and the file may have changed since.
  const file = configured ?? ownKeyFile(dataDirectory, variable)
  try {
    const { current, previous } = readMasterKeyFile(file)
    return { ...config, masterKey: current, previousMasterKey: previous, masterKeyFile: file }
  } catch (error) {
    if (!(error instanceof SettingError)) throw error
    throw refused(variable, error.message)
  }
}

/** A key is generated only if there is no database yet, because a new key cannot decrypt old data. */
function ownKeyFile(dataDirectory: string, variable: string): string {
  makeDataDirectory(dataDirectory)
  const file = masterKeyFile(dataDirectory)
  if (!existsSync(file)) {
    if (hasDatabase(dataDirectory)) {
      throw refused(
        variable,
        `The database in ${dataDirectory} was made with a key that is not there. ` +
          `Put it back as ${file}, or set ${variable} to it.`,
      )
    }
    createKey(file)
  }
  if ((statSync(file).mode & 0o077) !== 0) {
    throw refused(variable, `Others may read ${file}. Set its mode to 0600, and rotate the key if they did.`)
  }
  return file
}

/** If two processes start at once, the key of the first one is used. */
function createKey(file: string): void {
  try {
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

function refused(variable: string, message: string): ConfigError {
  return new ConfigError([{ variable, message }])
}
