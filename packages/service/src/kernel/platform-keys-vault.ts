import { generateKeyPair, type PrivateJwk, type PublicJwk } from '@agent-exchange/crypto'
import { secondsAfter } from './clock.ts'
import type { NewId } from './ids.ts'
import { decryptPrivateKey, encryptPrivateKey } from './master-key.ts'
import type { PlatformKeyPurpose, PlatformKeyRow } from './platform-keys-store.ts'

export interface NewKey {
  readonly purpose: PlatformKeyPurpose
  readonly validFrom: string
  readonly validitySeconds: number
  readonly now: string
  readonly standby?: boolean
  /** Derives the key id from the key. */
  readonly keyIdOf?: (publicJwk: PublicJwk) => Promise<string>
}

/** Makes and decrypts private keys. It alone holds the master key. */
export interface KeyVault {
  newKey(wanted: NewKey): Promise<PlatformKeyRow>
  privateJwk(row: PlatformKeyRow): PrivateJwk
}

export function keyVault(masterKey: Uint8Array, newId: NewId): KeyVault {
  return {
    async newKey({ purpose, validFrom, validitySeconds, now, standby = false, keyIdOf }) {
      const { publicKey, privateJwk } = await generateKeyPair('signing')
      const keyId = (await keyIdOf?.(publicKey.jwk)) ?? newId('key')
      return {
        key_id: keyId,
        purpose,
        public_jwk: JSON.stringify(publicKey.jwk),
        private_key_encrypted: encryptPrivateKey(masterKey, keyId, JSON.stringify(privateJwk)),
        valid_from: validFrom,
        valid_until: secondsAfter(validFrom, validitySeconds),
        status: 'active',
        created_at: now,
        revoked_at: null,
        invalid_from: null,
        standby,
      }
    },
    privateJwk: (row) =>
      JSON.parse(decryptPrivateKey(masterKey, row.key_id, row.private_key_encrypted)) as PrivateJwk,
  }
}
