import { randomBytes } from 'node:crypto'
import { encodeBase64url } from '@agent-exchange/crypto'
import { noteSigner, SIGNATURE_TYPE } from '@agent-exchange/log'
import { secondsAfter } from '@agent-exchange/server/clock'
import type { NewId } from '../kernel/ids.ts'
import type { KeyVault } from './key-vault.ts'
import type { PlatformSecrets } from './platform-secrets.ts'

const SEED_BYTES = 32
/** The name of a key is part of its signatures, not of the key. */
const ANY_NAME = 'log'

/** Makes Ed25519 keys for checkpoints: witnesses accept no others. */
export function logKeyVault(secrets: PlatformSecrets, newId: NewId, { privateJwk }: KeyVault): KeyVault {
  return {
    privateJwk,
    async newKey(tx, { purpose, validFrom, validitySeconds, now }) {
      const seed = randomBytes(SEED_BYTES)
      const { key } = await noteSigner(ANY_NAME, SIGNATURE_TYPE.ed25519, seed)
      const keyId = newId('key')
      const publicJwk = { crv: 'Ed25519', kty: 'OKP', x: encodeBase64url(key.publicKey) }
      const secret = JSON.stringify({ ...publicJwk, d: encodeBase64url(seed) })
      return {
        key_id: keyId,
        purpose,
        public_jwk: JSON.stringify(publicJwk),
        private_key_encrypted: await secrets.encrypt(tx, keyId, secret),
        valid_from: validFrom,
        valid_until: secondsAfter(validFrom, validitySeconds),
        status: 'active',
        created_at: now,
        revoked_at: null,
        invalid_from: null,
        standby: false,
      }
    },
  }
}
