import { resolve } from 'node:path'
import { parseMasterKey, readMasterKeyFile } from './master-key-text.ts'
import type { SettingsReader } from './settings-reader.ts'

export interface MasterKeySettings {
  /** 32 bytes. Undefined: `withMasterKey` reads or generates the one in the data directory. */
  readonly masterKey: Uint8Array | undefined
  /** Also accepted until the master key has been rotated. */
  readonly previousMasterKey?: Uint8Array | undefined
  /** Where the keys came from. The server reads this file again; without it, it keeps the keys. */
  readonly masterKeyFile?: string
}

/** The names of the variables. */
export interface MasterKeyNames<Name extends string> {
  readonly key: Name
  readonly previous: Name
  readonly file: Name
  readonly databaseUrl: Name
}

/** Valid combinations: none, a file, a key, or a key and its predecessor. */
export function readMasterKeys<Name extends string>(
  settings: SettingsReader<Name>,
  names: MasterKeyNames<Name>,
): MasterKeySettings {
  const { checked, value, reject } = settings
  const key = checked(names.key, parseMasterKey)
  const previous = checked(names.previous, parseMasterKey)
  const file = checked(names.file, (path) => ({
    path: resolve(path),
    keys: readMasterKeyFile(path),
  }))
  const hasFile = value(names.file) !== undefined
  if (hasFile && value(names.key)) {
    reject(names.file, `Set either ${names.key} or ${names.file}.`)
  }
  if (value(names.previous) && !value(names.key)) {
    const where = hasFile ? 'put the previous key on the second line of the file' : `set ${names.key} too`
    reject(names.previous, `It belongs to ${names.key}: ${where}.`)
  }
  if (key && previous && Buffer.from(key).equals(previous)) {
    reject(names.previous, `It is the same key as ${names.key}. Use the former key, or unset it.`)
  }
  if (value(names.databaseUrl) && !value(names.key) && !hasFile) {
    reject(
      names.key,
      `Set it (or ${names.file}) together with ${names.databaseUrl}: every replica needs the same 32 bytes, ` +
        'as base64url or hex.',
    )
  }
  if (!file) return { masterKey: key, ...(previous && { previousMasterKey: previous }) }
  return { masterKey: file.keys.current, previousMasterKey: file.keys.previous, masterKeyFile: file.path }
}
