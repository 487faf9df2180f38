import { createDecipheriv, hkdfSync } from 'node:crypto'
import { importPrivateJwk, signDetached } from '@agent-exchange/crypto'
import type { World } from './test-world.ts'

const [VERSION_BYTES, NONCE_BYTES, TAG_BYTES, KEY_BYTES] = [1, 12, 16, 32]

/** Signs with the statement key of a world's platform, as an operator could who has the master key. */
export async function signAsPlatform({ sql, masterKey }: World, statement: object) {
  const [row] = await sql<{ key_id: string; private_key_encrypted: Buffer }[]>`
    select key_id, private_key_encrypted from platform_key
    where purpose = 'statement' and status = 'active' order by valid_from desc limit 1`
  if (!row) throw new Error('the platform has no statement key')
  const [secret] = await sql<{ wrapped: Buffer }[]>`
    select wrapped from wrapped_secret where name = 'platform_keys'`
  if (!secret) throw new Error('the platform has no data key')
  const dataKey = decrypted(masterKey, 'secret wrapping', 'platform_keys', secret.wrapped)
  const stored = decrypted(dataKey, 'platform private keys', row.key_id, row.private_key_encrypted)
  const jwk: unknown = JSON.parse(stored.toString('utf8'))
  const key = await importPrivateJwk(jwk, { use: 'signing' })
  return signDetached(statement, { member: 'signature', key, keyId: row.key_id })
}

function decrypted(key: Uint8Array, purpose: string, context: string, stored: Buffer): Buffer {
  const secret = hkdfSync('sha256', key, '', `agent-exchange ${purpose}`, KEY_BYTES)
  const nonce = stored.subarray(VERSION_BYTES, VERSION_BYTES + NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', new Uint8Array(secret), nonce)
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(stored.subarray(-TAG_BYTES))
  const body = stored.subarray(VERSION_BYTES + NONCE_BYTES, -TAG_BYTES)
  return Buffer.concat([decipher.update(body), decipher.final()])
}
