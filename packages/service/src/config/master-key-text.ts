import { SettingError } from './settings-reader.ts'

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
