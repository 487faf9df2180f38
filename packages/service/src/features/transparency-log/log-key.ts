import { randomBytes } from 'node:crypto'
import { decodeBase64url, encodeBase64url } from '@agent-exchange/crypto'
import { noteSigner, SIGNATURE_TYPE, type NoteSigner } from '@agent-exchange/log'
import type { Database } from '../../db/database.ts'
import { lockNames } from '../../kernel/named-locks.ts'
import { inTransaction } from '../../db/transaction.ts'
import { DAY_SECONDS, secondsAfter } from '../../kernel/clock.ts'
import type { NewId } from '../../kernel/ids.ts'
import { decryptPrivateKey, encryptPrivateKey } from '../../kernel/master-key.ts'
import { insertKey, listUsableKeys, type PlatformKeyRow } from '../../kernel/platform-keys-store.ts'
import { PLATFORM_KEYS_LOCK } from '../../kernel/platform-keys-webhook.ts'

const SEED_BYTES = 32
/** The key has no announced end; this value only fills the column. */
const VALIDITY_SECONDS = 3_650 * DAY_SECONDS

interface LogKeySettings {
  readonly db: Database
  readonly masterKey: Uint8Array
  readonly origin: string
  readonly newId: NewId
  readonly now: string
}

/** The Ed25519 key that signs checkpoints, under the master key like every platform key. Made where it is missing. */
export async function openLogKey(settings: LogKeySettings): Promise<NoteSigner> {
  const { db, masterKey, origin, now } = settings
  const row = await inTransaction(db, async (tx) => {
    await lockNames(tx, 'key', [PLATFORM_KEYS_LOCK])
    const [current] = await listUsableKeys(tx, 'log', now)
    if (current) return current
    const made = await newLogKey(settings)
    await insertKey(tx, made)
    return made
  })
  const { d } = JSON.parse(decryptPrivateKey(masterKey, row.key_id, row.private_key_encrypted)) as {
    d: string
  }
  return noteSigner(origin, SIGNATURE_TYPE.ed25519, decodeBase64url(d))
}

async function newLogKey({ masterKey, origin, newId, now }: LogKeySettings): Promise<PlatformKeyRow> {
  const seed = randomBytes(SEED_BYTES)
  const { key } = await noteSigner(origin, SIGNATURE_TYPE.ed25519, seed)
  const keyId = newId('key')
  const publicJwk = { crv: 'Ed25519', kty: 'OKP', x: encodeBase64url(key.publicKey) }
  const privateJwk = { ...publicJwk, d: encodeBase64url(seed) }
  return {
    key_id: keyId,
    purpose: 'log',
    public_jwk: JSON.stringify(publicJwk),
    private_key_encrypted: encryptPrivateKey(masterKey, keyId, JSON.stringify(privateJwk)),
    valid_from: now,
    valid_until: secondsAfter(now, VALIDITY_SECONDS),
    status: 'active',
    created_at: now,
    revoked_at: null,
    invalid_from: null,
    standby: false,
  }
}
