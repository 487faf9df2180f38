import type { PrivateKey, PublicJwk } from '@agent-exchange/crypto'

/** Role of a key pair: client authentication, signing, decryption. */
export type KeyRole = 'client' | 'signing' | 'encryption'

/**
 * `next` is created and not yet registered, `current` is in use, `previous` was replaced and still decrypts or proves
 * earlier packages.
 */
export type KeyStage = 'next' | 'current' | 'previous'

/** The public part of a key pair in a store. */
export interface OwnKey {
  readonly keyId: string
  readonly role: KeyRole
  readonly stage: KeyStage
  readonly publicJwk: PublicJwk
  readonly createdAt: string
  /** The key that this one replaces. */
  readonly replaces?: string
  /** `invalid_from` of each revocation that this agent asked for. */
  readonly revocations?: readonly string[]
}

export interface NewKey {
  readonly role: KeyRole
  readonly stage: KeyStage
  readonly createdAt: string
  readonly replaces?: string
  /** Derives the key id from the public key. Defaults to the thumbprint. */
  readonly nameOf?: (publicJwk: PublicJwk) => Promise<string>
}

/**
 * Holds an agent's private keys. Keys are generated inside and never exported: a store returns handles that sign or
 * decrypt. A hardware security module can implement it.
 */
export interface KeyStore {
  list(): Promise<readonly OwnKey[]>
  generate(key: NewKey): Promise<OwnKey>
  /** A handle of the private key; throws `key_missing` for an unknown id. */
  privateKey(keyId: string): Promise<PrivateKey>
  /** Changes the stages of keys atomically. */
  setStages(stages: Readonly<Record<string, KeyStage>>): Promise<void>
  /**
   * Notes a revocation before the exchange is asked for it, so that the monitor can tell it from one that somebody else
   * made. Optional; throws `key_missing` for an unknown id.
   */
  noteRevocation?(keyId: string, invalidFrom: string): Promise<void>
}
