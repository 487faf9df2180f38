import type { MasterKeys } from '../master-key.ts'
import { readNamedFile, SettingError } from './settings-reader.ts'

const MASTER_KEY_BYTES = 32

/** Hex is tried first, because 64 hex digits are also valid base64url (48 bytes). */
export function parseMasterKey(text: string): Uint8Array {
  if (/^[0-9a-f]{64}$/iu.test(text)) return Uint8Array.from(Buffer.from(text, 'hex'))
  const bytes = /^[A-Za-z0-9_-]{43}=?$/u.test(text) ? Buffer.from(text, 'base64url') : Buffer.alloc(0)
  if (bytes.length !== MASTER_KEY_BYTES) {
    throw new SettingError(
      `Use ${MASTER_KEY_BYTES} random bytes as base64url (43 characters) or hex (64), ` +
        'for example from `openssl rand -hex 32`.',
    )
  }
  return Uint8Array.from(bytes)
}

/** The current key on the first line, and during a rotation the previous one on the second. */
function parseMasterKeys(text: string): MasterKeys {
  const lines = text.split('\n').map((line) => line.trim())
  const [current, previous, ...others] = lines.filter((line) => line !== '').map(parseMasterKey)
  if (!current) throw new SettingError('It is empty.')
  if (others.length > 0)
    throw new SettingError('It has more than two keys: the current and the previous one.')
  return { current, previous }
}

/** @throws {SettingError} that says why the file is unusable */
export function readMasterKeyFile(file: string): MasterKeys {
  const text = readNamedFile(file)
  try {
    return parseMasterKeys(text)
  } catch (error) {
    if (!(error instanceof SettingError)) throw error
    throw new SettingError(`The file ${file} holds no usable key. ${error.message}`)
  }
}
