import {
  generateKeyPair,
  importPrivateJwk,
  type PrivateJwk,
  type PrivateKey,
  type PublicJwk,
} from '@agent-exchange/crypto'
import type { KeyModule } from '@agent-exchange/pkcs11'
import type { Transaction } from '@agent-exchange/database'
import { secondsAfter } from '@agent-exchange/server/clock'
import type { NewId } from '../kernel/ids.ts'
import { type PlatformKeyPurpose, type PlatformKeyRow, publicJwkOf } from './key-store.ts'
import { storedReference, storeReference, tokenOf } from './module-reference.ts'
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

/** Makes private keys, and opens them wherever they are. */
export interface KeyVault<Key = PrivateKey> {
  /** Call it under the lock of platform keys, so that a rotation of the master key does not miss the new key. */
  newKey(tx: Transaction, wanted: NewKey): Promise<PlatformKeyRow>
  open(row: PlatformKeyRow): Promise<Key>
}

export interface VaultSettings {
  readonly secrets: PlatformSecrets
  readonly newId: NewId
  /** Makes the new keys. Keys that the database holds are used until their rotation. */
  readonly module?: KeyModule | undefined
}

/** ES256 keys. */
export function keyVault({ secrets, newId, module }: VaultSettings): KeyVault {
  async function make(purpose: PlatformKeyPurpose): Promise<MadeKey> {
    if (module) {
      const { reference, privateKey } = await module.generate({ use: 'signing', label: labelOf(purpose) })
      return { publicJwk: privateKey.publicJwk, store: async () => storeReference(reference) }
    }
    const { publicKey, privateJwk } = await generateKeyPair('signing')
    const store: MadeKey['store'] = (tx, keyId) => secrets.encrypt(tx, keyId, JSON.stringify(privateJwk))
    return { publicJwk: publicKey.jwk, store }
  }
  return {
    async newKey(tx, wanted) {
      const { publicJwk, store } = await make(wanted.purpose)
      const keyId = (await wanted.keyIdOf?.(publicJwk)) ?? newId('key')
      return newRow(wanted, { keyId, publicJwk, stored: await store(tx, keyId) })
    },
    async open(row) {
      const reference = storedReference(row)
      if (reference === undefined) {
        const privateJwk = JSON.parse(await secrets.decrypt(row)) as PrivateJwk
        return importPrivateJwk(privateJwk, { use: 'signing' })
      }
      const key = await requireModule(module, row).privateKey(reference, 'signing')
      requireOwnKey(row, key.publicJwk)
      return key
    },
  }
}

interface MadeKey {
  readonly publicJwk: PublicJwk
  readonly store: (tx: Transaction, keyId: string) => Promise<Uint8Array>
}

export function labelOf(purpose: PlatformKeyPurpose): string {
  return `agent-exchange ${purpose}`
}

export function newRow(
  { purpose, validFrom, validitySeconds, now, standby = false }: NewKey,
  { keyId, publicJwk, stored }: { keyId: string; publicJwk: object; stored: Uint8Array },
): PlatformKeyRow {
  return {
    key_id: keyId,
    purpose,
    public_jwk: JSON.stringify(publicJwk),
    private_key_encrypted: stored,
    valid_from: validFrom,
    valid_until: secondsAfter(validFrom, validitySeconds),
    status: 'active',
    created_at: now,
    revoked_at: null,
    invalid_from: null,
    standby,
  }
}

export function requireModule(module: KeyModule | undefined, row: PlatformKeyRow): KeyModule {
  const token = tokenOf(row)
  if (module && module.token === token) return module
  throw new Error(
    `The platform key ${row.key_id} is in the token ${token} of a PKCS#11 module. ` +
      'Set AEX_PKCS11_MODULE, AEX_PKCS11_TOKEN and AEX_PKCS11_PIN_FILE to that token.',
  )
}

/** Whoever can write to the database must not choose which key of the module signs. */
export function requireOwnKey(row: PlatformKeyRow, found: { readonly x: string; readonly y?: string }): void {
  const { x, y } = publicJwkOf(row)
  if (found.x !== x || found.y !== y)
    throw new Error(
      `The module has another key than ${row.key_id} under its reference. Restore the database.`,
    )
}
