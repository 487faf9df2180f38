import type { PrivateKey, PublicJwk } from '@agent-exchange/crypto'
import type { RotatingKeys } from './rotating-keys.ts'
import { type PlatformKeyRow, publicJwkOf } from './key-store.ts'
import type { KeyVault } from './key-vault.ts'

/** A key of the authorization server. */
export interface TokenKey {
  readonly keyId: string
  readonly publicJwk: PublicJwk
  /** ES256. The private part is opened with the first signature, so that tokens verify while a module is away. */
  sign(data: Uint8Array): Promise<Uint8Array>
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
    if (opened?.version !== version) opened = { version, keys: keys.map((row) => tokenKeyOf(row, vault)) }
    return opened
  }
}

function tokenKeyOf(row: PlatformKeyRow, vault: KeyVault): TokenKey {
  let opened: Promise<PrivateKey> | undefined
  function open(): Promise<PrivateKey> {
    opened ??= vault.open(row).catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    keyId: row.key_id,
    publicJwk: publicJwkOf(row),
    sign: async (data) => (await open()).sign(data),
  }
}
