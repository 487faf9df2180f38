import { resolve, sep } from 'node:path'
import { defaultOf } from './variables.ts'
import { SettingError, type SettingsReader } from './settings-reader.ts'

/** The path becomes part of a shell command of PostgreSQL, so it has no character that a shell interprets. */
const SAFE_PATH = /^[\w./@+-]+$/u

export function readWalArchive({ checked, value, reject }: SettingsReader): string | undefined {
  const folder = checked('AEX_WAL_ARCHIVE', (path) => {
    if (SAFE_PATH.test(resolve(path))) return resolve(path)
    throw new SettingError('Use a path of letters, digits, ".", "_", "-", "@", "+" and "/".')
  })
  if (folder === undefined) return undefined
  if (value('DATABASE_URL')) {
    return reject(
      'AEX_WAL_ARCHIVE',
      'It is for the embedded database. Set archive_command on the server of DATABASE_URL instead.',
    )
  }
  const data = resolve(value('AEX_DATA_DIR') ?? defaultOf('AEX_DATA_DIR'))
  if (folder === data || folder.startsWith(`${data}${sep}`)) {
    return reject('AEX_WAL_ARCHIVE', 'Use a folder outside AEX_DATA_DIR, best on another disk or machine.')
  }
  return folder
}
