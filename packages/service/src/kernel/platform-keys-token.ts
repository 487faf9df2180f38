import type { PrivateJwk, PublicJwk } from '@agent-exchange/crypto'
import type { RotatingKeys } from './platform-keys-rotating.ts'
import { publicJwkOf } from './platform-keys-store.ts'
import type { KeyVault } from './platform-keys-vault.ts'

/** A key of the authorization server. The private part is for its signer alone. */
export interface TokenKey {
  readonly keyId: string
  readonly publicJwk: PublicJwk
  readonly privateJwk: PrivateJwk
}

export interface TokenKeySet {
  /** The first one signs, all of them verify. */
  readonly keys: readonly TokenKey[]
  /** Another one whenever they change. */
  readonly version: string
}

/** The keys as they are now; where `keyId` is not among them, they are looked up again. */
export type TokenKeySource = (keyId?: string) => Promise<TokenKeySet>

export function tokenKeySource(token: RotatingKeys, vault: KeyVault): TokenKeySource {
  let opened: TokenKeySet | undefined
  return async (keyId) => {
    const { keys, version } = await token.current(keyId)
    if (opened?.version === version) return opened
    opened = {
      version,
      keys: keys.map((row) => ({
        keyId: row.key_id,
        publicJwk: publicJwkOf(row),
        privateJwk: vault.privateJwk(row),
      })),
    }
    return opened
  }
}
