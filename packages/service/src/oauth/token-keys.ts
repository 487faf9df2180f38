import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose'
import type { Clock } from '../kernel/clock.ts'
import type { TokenKeySource } from '../kernel/platform-keys-token.ts'
import { Problem } from '../kernel/problem.ts'
import { SERVER_METADATA_PATH, OPENID_METADATA_PATH, wellKnownUrl } from './oauth-urls.ts'

/** An issuer with its algorithms and keys. */
export interface TokenIssuer {
  readonly issuer: string
  readonly algorithms: readonly string[]
  readonly keyOf: JWTVerifyGetKey
  /** Changes when a key is rotated or revoked, which invalidates cached tokens. */
  readonly version?: () => Promise<string>
}

const EXTERNAL_ALGORITHMS = ['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519']
const FETCH_TIMEOUT_MS = 5_000
const MAXIMUM_DOCUMENT_BYTES = 262_144
/** Minimum interval between key fetches caused by unknown key ids. */
const KEYS_COOLDOWN_MS = 30_000
/** Minimum interval between discovery attempts while the issuer is down. */
const DISCOVERY_COOLDOWN_MS = 2_000
const KEYS_MAXIMUM_AGE_MS = 600_000

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

/**
 * An external issuer. Discovery (RFC 8414 or OpenID Connect) is deferred to its first token, so that the exchange can
 * start while the issuer is down.
 */
export function externalIssuer(issuer: string, clock: Clock): TokenIssuer {
  let found: Promise<JWTVerifyGetKey> | undefined
  let failedAt: number | undefined
  return {
    issuer,
    algorithms: EXTERNAL_ALGORITHMS,
    async keyOf(header, token) {
      const now = clock.monotonicMilliseconds()
      if (failedAt !== undefined && now - failedAt >= DISCOVERY_COOLDOWN_MS) found = failedAt = undefined
      found ??= discoverKeys(issuer)
      try {
        const keyOf = await found
        return await keyOf(header, token)
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
          throw error
        if (error instanceof DiscoveryError) failedAt ??= now
        throw new Problem('service_overloaded', { reason: 'issuer_unavailable' }, { cause: error })
      }
    },
  }
}

class DiscoveryError extends Error {
  override readonly name = 'DiscoveryError'
}

async function discoverKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const addresses = [
    wellKnownUrl(issuer, SERVER_METADATA_PATH),
    issuer.replace(/\/$/, '') + OPENID_METADATA_PATH,
  ]
  const failures: unknown[] = []
  for (const address of addresses) {
    try {
      const metadata = (await (await fetchBounded(address)).json()) as Record<string, unknown>
      // RFC 8414 section 3.3: metadata of another issuer must not be used.
      if (metadata['issuer'] !== issuer) throw new Error(`${address} is the metadata of another issuer`)
      const keys = new URL(String(metadata['jwks_uri']))
      return createRemoteJWKSet(keys, {
        timeoutDuration: FETCH_TIMEOUT_MS,
        cooldownDuration: KEYS_COOLDOWN_MS,
        cacheMaxAge: KEYS_MAXIMUM_AGE_MS,
        [customFetch]: (url) => fetchBounded(url),
      })
    } catch (error) {
      failures.push(error)
    }
  }
  throw new DiscoveryError(`${issuer} could not be discovered`, { cause: new AggregateError(failures) })
}

/** Fetches JSON over TLS (or loopback), without redirects, with limits on time and size. */
async function fetchBounded(address: string): Promise<Response> {
  const { protocol, hostname } = new URL(address)
  const loopback = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
  if (protocol !== 'https:' && !loopback) throw new Error(`${address} is not https`)
  const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS)
  const headers = { accept: 'application/json' }
  const response = await fetch(address, { redirect: 'error', signal, headers })
  if (response.status !== 200) throw new Error(`${address} answered ${response.status}`)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAXIMUM_DOCUMENT_BYTES) throw new Error(`${address} sent too large a response`)
    chunks.push(chunk)
  }
  return new Response(Buffer.concat(chunks), { status: 200, headers: { 'content-type': 'application/json' } })
}
