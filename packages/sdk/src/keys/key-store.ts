import type { PrivateKey, PublicJwk } from '@agent-exchange/crypto'

/** What a key pair of the agent is for: to be let in, to sign, to open what is sealed for it. */
export type KeyRole = 'client' | 'signing' | 'encryption'

/**
 * `next` was made and is not registered yet, `current` is in use, `previous` was replaced and still opens or
 * proves what was sealed or signed with it.
 */
export type KeyStage = 'next' | 'current' | 'previous'

/** The public side of a key pair in a store. */
export interface OwnKey {
  readonly keyId: string
  readonly role: KeyRole
  readonly stage: KeyStage
  readonly publicJwk: PublicJwk
  readonly createdAt: string
  /** The key that this one takes the place of. */
  readonly replaces?: string
}

export interface NewKey {
  readonly role: KeyRole
  readonly stage: KeyStage
  readonly createdAt: string
  readonly replaces?: string
  /** Names the pair once its public part is known; the thumbprint names it unless told. */
  readonly nameOf?: (publicJwk: PublicJwk) => Promise<string>
}

/**
 * Where an agent's private keys live. They are made inside and never come out: a store hands out handles
 * that sign or open, and cannot be read back. A store in a hardware module is one more implementation of this.
 */
export interface KeyStore {
  list(): Promise<readonly OwnKey[]>
  generate(key: NewKey): Promise<OwnKey>
  /** A handle to the private part; throws `key_missing` for an unknown id. */
  privateKey(keyId: string): Promise<PrivateKey>
  /** Moves keys from stage to stage, all or none. */
  setStages(stages: Readonly<Record<string, KeyStage>>): Promise<void>
}
