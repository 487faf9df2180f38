import { createLocalJWKSet, type JWTVerifyGetKey } from 'jose'
import type { TokenKeySource } from '../platform-keys/token-keys.ts'

/** An issuer with its algorithms and keys. */
export interface TokenIssuer {
  readonly issuer: string
  readonly algorithms: readonly string[]
  readonly keyOf: JWTVerifyGetKey
  /** It chooses the times of its tokens itself, so they are limited here. */
  readonly isExternal?: true
  /** Changes when a key is rotated or revoked, which invalidates cached tokens. */
  readonly version?: () => Promise<string>
}

/** The embedded authorization server. Its keys are in the database, so nothing is fetched. */
export function embeddedIssuer(issuer: string, tokenKeys: TokenKeySource): TokenIssuer {
  let known: { version: string; keyOf: ReturnType<typeof createLocalJWKSet> } | undefined
  return {
    issuer,
    algorithms: ['ES256'],
    version: async () => (await tokenKeys()).version,
    async keyOf(header, token) {
      // Another process may sign with a key that this one has not loaded yet.
      const { keys, version } = await tokenKeys(header.kid)
      if (known?.version !== version) {
        const jwks = keys.map(({ publicJwk, keyId }) => ({ ...publicJwk, kid: keyId, alg: 'ES256' }))
        known = { version, keyOf: createLocalJWKSet({ keys: jwks }) }
      }
      return known.keyOf(header, token)
    },
  }
}
