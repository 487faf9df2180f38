import type { KeyUse, PrivateJwk } from './jwk-shape.ts'
import type { PrivateKey } from './keys.ts'

/** A private key with the name under which its provider finds it again. Not a secret. */
export interface HeldKey {
  readonly reference: string
  readonly privateKey: PrivateKey
}

export interface KeyLabel {
  readonly use: KeyUse
  /** Shown by the provider's own tools. Not unique. */
  readonly label: string
}

/**
 * Generates P-256 keys and holds them, so that a key store keeps only references: a hardware security module, for
 * example. A private part never comes out. A provider that cannot answer now, or has no such key, rejects with an error of
 * its own.
 */
export interface KeyProvider {
  generate(key: KeyLabel): Promise<HeldKey>
  /** Finds a key that this provider made or imported. */
  privateKey(reference: string, use: KeyUse): Promise<PrivateKey>
  /** Moves an existing key into the provider. The caller destroys its own copy. */
  importKey(privateJwk: PrivateJwk, key: KeyLabel): Promise<HeldKey>
  /** Destroys a key for good. A key that is not there is destroyed already. */
  destroy(reference: string): Promise<void>
}
