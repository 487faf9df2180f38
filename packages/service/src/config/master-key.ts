import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasDatabase } from '../db/embedded/place.ts'
import { makeDataDirectory } from '../db/embedded/start-lock.ts'
import { ConfigError } from './config-error.ts'
import type { Config } from './config.ts'
import { parseMasterKey } from './master-key-text.ts'
import { Refusal } from './settings-reader.ts'

export function masterKeyFile(dataDirectory: string): string {
  return join(dataDirectory, 'master-key')
}

/**
 * The key that encrypts the platform's private keys: as configured, or from the data folder. It is generated
 * only before there is a database; a new key beside old data would open nothing. Call it before the embedded
 * database starts.
 */
export function masterKeyOf({ masterKey, dataDirectory }: Config): Uint8Array {
  if (masterKey) return masterKey
  makeDataDirectory(dataDirectory)
  const file = masterKeyFile(dataDirectory)
  if (!existsSync(file)) {
    if (hasDatabase(dataDirectory)) {
      throw refused(
        `The database in ${dataDirectory} was made with a key that is not there. ` +
          `Put it back as ${file}, or set AEX_MASTER_KEY to it.`,
      )
    }
    createKey(file)
  }
  if ((statSync(file).mode & 0o077) !== 0) {
    throw refused(`Others may read ${file}. Set its mode to 0600, and rotate the key if they did.`)
  }
  try {
    return parseMasterKey(readFileSync(file, 'utf8').trim())
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw refused(`The file ${file} holds no usable key. ${error.message}`)
  }
}

/** Two processes may start at once: the first one's key counts. */
function createKey(file: string): void {
  try {
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

function refused(message: string): ConfigError {
  return new ConfigError([{ variable: 'AEX_MASTER_KEY', message }])
}
