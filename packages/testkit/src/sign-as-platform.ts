import { createDecipheriv, hkdfSync } from 'node:crypto'
import { importPrivateJwk, signDetached } from '@agent-exchange/crypto'
import type { World } from './world.ts'

const [VERSION_BYTES, NONCE_BYTES, TAG_BYTES, KEY_BYTES] = [1, 12, 16, 32]

/** Signs with the statement key of a world's platform, as an operator could who has the master key. */
export async function signAsPlatform({ sql, masterKey }: World, statement: object) {
  const [row] = await sql<{ key_id: string; private_key_encrypted: Buffer }[]>`
    select key_id, private_key_encrypted from platform_key
    where purpose = 'statement' and status = 'active' order by valid_from desc limit 1`
  if (!row) throw new Error('the platform has no statement key')
  const jwk: unknown = JSON.parse(decrypted(masterKey, row.key_id, row.private_key_encrypted))
  const key = await importPrivateJwk(jwk, { use: 'signing' })
  return signDetached(statement, { member: 'signature', key, keyId: row.key_id })
}

function decrypted(masterKey: Uint8Array, keyId: string, stored: Buffer): string {
  const secret = hkdfSync('sha256', masterKey, '', 'agent-exchange platform private keys', KEY_BYTES)
  const nonce = stored.subarray(VERSION_BYTES, VERSION_BYTES + NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', new Uint8Array(secret), nonce)
  decipher.setAAD(Buffer.from(keyId))
  decipher.setAuthTag(stored.subarray(-TAG_BYTES))
  const body = stored.subarray(VERSION_BYTES + NONCE_BYTES, -TAG_BYTES)
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
}
