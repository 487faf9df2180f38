import type { PrivateJwk, PublicJwk } from '@agent-exchange/crypto'
import type { RotatingKeys } from './rotating-keys.ts'
import { publicJwkOf } from './key-store.ts'
import type { KeyVault } from './key-vault.ts'

/** A key of the authorization server. Only its signer uses the private part. */
export interface TokenKey {
  readonly keyId: string
  readonly publicJwk: PublicJwk
  readonly privateJwk: PrivateJwk
}

export interface TokenKeySet {
  /** The first one signs, all of them verify. */
  readonly keys: readonly TokenKey[]
  /** Changes whenever the keys change. */
  readonly version: string
}

/** The current keys. If `keyId` is not among them, they are read again. */
export type TokenKeySource = (keyId?: string) => Promise<TokenKeySet>

export function tokenKeySource(token: RotatingKeys, vault: KeyVault): TokenKeySource {
  let opened: TokenKeySet | undefined
  return async (keyId) => {
    const { keys, version } = await token.current(keyId)
    if (opened?.version === version) return opened
    const next = await Promise.all(
      keys.map(async (row) => ({
        keyId: row.key_id,
        publicJwk: publicJwkOf(row),
        privateJwk: await vault.privateJwk(row),
      })),
    )
    opened = { version, keys: next }
    return opened
  }
}
