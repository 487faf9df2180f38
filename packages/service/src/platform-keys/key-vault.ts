import { generateKeyPair, type PrivateJwk, type PublicJwk } from '@agent-exchange/crypto'
import type { Transaction } from '@agent-exchange/database'
import { secondsAfter } from '@agent-exchange/server/clock'
import type { NewId } from '../kernel/ids.ts'
import type { PlatformKeyPurpose, PlatformKeyRow } from './key-store.ts'
import type { PlatformSecrets } from './platform-secrets.ts'

export interface NewKey {
  readonly purpose: PlatformKeyPurpose
  readonly validFrom: string
  readonly validitySeconds: number
  readonly now: string
  readonly standby?: boolean
  /** Derives the key id from the key. */
  readonly keyIdOf?: (publicJwk: PublicJwk) => Promise<string>
}

/** Makes and decrypts private keys. */
export interface KeyVault {
  /** Call it under the lock of platform keys, so that a rotation of the master key does not miss the new key. */
  newKey(tx: Transaction, wanted: NewKey): Promise<PlatformKeyRow>
  privateJwk(row: PlatformKeyRow): Promise<PrivateJwk>
}

export function keyVault(secrets: PlatformSecrets, newId: NewId): KeyVault {
  return {
    async newKey(tx, { purpose, validFrom, validitySeconds, now, standby = false, keyIdOf }) {
      const { publicKey, privateJwk } = await generateKeyPair('signing')
      const keyId = (await keyIdOf?.(publicKey.jwk)) ?? newId('key')
      return {
        key_id: keyId,
        purpose,
        public_jwk: JSON.stringify(publicKey.jwk),
        private_key_encrypted: await secrets.encrypt(tx, keyId, JSON.stringify(privateJwk)),
        valid_from: validFrom,
        valid_until: secondsAfter(validFrom, validitySeconds),
        status: 'active',
        created_at: now,
        revoked_at: null,
        invalid_from: null,
        standby,
      }
    },
    privateJwk: async (row) => JSON.parse(await secrets.decrypt(row)) as PrivateJwk,
  }
}
