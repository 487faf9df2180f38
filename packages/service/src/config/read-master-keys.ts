import { resolve } from 'node:path'
import type { Config } from './config.ts'
import { parseMasterKey, readMasterKeyFile } from './master-key-text.ts'
import type { SettingsReader } from './settings-reader.ts'

type MasterKeySettings = Pick<Config, 'masterKey' | 'previousMasterKey' | 'masterKeyFile'>

/** Valid combinations: none, a file, a key, or a key and its predecessor. */
export function readMasterKeys(settings: SettingsReader): MasterKeySettings {
  const { checked, value, reject } = settings
  const key = checked('AEX_MASTER_KEY', parseMasterKey)
  const previous = checked('AEX_MASTER_KEY_PREVIOUS', parseMasterKey)
  const file = checked('AEX_MASTER_KEY_FILE', (path) => ({
    path: resolve(path),
    keys: readMasterKeyFile(path),
  }))
  const hasFile = value('AEX_MASTER_KEY_FILE') !== undefined
  if (hasFile && value('AEX_MASTER_KEY')) {
    reject('AEX_MASTER_KEY_FILE', 'Set either AEX_MASTER_KEY or AEX_MASTER_KEY_FILE.')
  }
  if (value('AEX_MASTER_KEY_PREVIOUS') && !value('AEX_MASTER_KEY')) {
    const where = hasFile ? 'put the previous key on the second line of the file' : 'set AEX_MASTER_KEY too'
    reject('AEX_MASTER_KEY_PREVIOUS', `It belongs to AEX_MASTER_KEY: ${where}.`)
  }
  if (key && previous && Buffer.from(key).equals(previous)) {
    reject(
      'AEX_MASTER_KEY_PREVIOUS',
      'It is the same key as AEX_MASTER_KEY. Use the former key, or unset it.',
    )
  }
  if (value('DATABASE_URL') && !value('AEX_MASTER_KEY') && !hasFile) {
    reject(
      'AEX_MASTER_KEY',
      'Set it (or AEX_MASTER_KEY_FILE) together with DATABASE_URL: every replica needs the same 32 bytes, ' +
        'as base64url or hex.',
    )
  }
  if (!file) return { masterKey: key, ...(previous && { previousMasterKey: previous }) }
  return { masterKey: file.keys.current, previousMasterKey: file.keys.previous, masterKeyFile: file.path }
}
