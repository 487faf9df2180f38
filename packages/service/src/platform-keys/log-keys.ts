import { randomBytes } from 'node:crypto'
import { decodeBase64url, encodeBase64url, type PrivateJwk } from '@agent-exchange/crypto'
import { noteSigner, SIGNATURE_TYPE } from '@agent-exchange/log'
import {
  type KeyVault,
  labelOf,
  newRow,
  requireModule,
  requireOwnKey,
  type VaultSettings,
} from './key-vault.ts'
import { storedReference, storeReference } from './module-reference.ts'

const SEED_BYTES = 32
/** The name of a key is part of its signatures, not of the key. */
const ANY_NAME = 'log'

/** An Ed25519 key that signs checkpoints. */
export interface LogKey {
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Promise<Uint8Array>
}

/**
 * Makes Ed25519 keys for checkpoints: witnesses accept no others. Not every module has Ed25519; without it, these keys
 * stay in the database.
 */
export function logKeyVault({ secrets, newId, module }: VaultSettings): KeyVault<LogKey> {
  return {
    async newKey(tx, wanted) {
      const keyId = newId('key')
      if (module && (await module.check()).hasEd25519) {
        const { reference, publicKey } = await module.generateEd25519(labelOf('log'))
        return newRow(wanted, { keyId, publicJwk: jwkOf(publicKey), stored: storeReference(reference) })
      }
      const seed = randomBytes(SEED_BYTES)
      const publicJwk = jwkOf((await fromSeed(seed)).publicKey)
      const secret = JSON.stringify({ ...publicJwk, d: encodeBase64url(seed) })
      return newRow(wanted, { keyId, publicJwk, stored: await secrets.encrypt(tx, keyId, secret) })
    },
    async open(row) {
      const reference = storedReference(row)
      if (reference === undefined) {
        const { d } = JSON.parse(await secrets.decrypt(row)) as PrivateJwk
        return fromSeed(decodeBase64url(d))
      }
      const key = await requireModule(module, row).ed25519Key(reference)
      requireOwnKey(row, jwkOf(key.publicKey))
      return key
    },
  }
}

async function fromSeed(seed: Uint8Array): Promise<LogKey> {
  const { key, sign } = await noteSigner(ANY_NAME, SIGNATURE_TYPE.ed25519, seed)
  return { publicKey: key.publicKey, sign }
}

function jwkOf(publicKey: Uint8Array) {
  return { crv: 'Ed25519', kty: 'OKP', x: encodeBase64url(publicKey) }
}
