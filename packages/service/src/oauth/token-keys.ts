import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose'
import type { Clock } from '../kernel/clock.ts'
import type { TokenKeySource } from '../kernel/platform-keys-token.ts'
import { Problem } from '../kernel/problem.ts'
import { SERVER_METADATA_PATH, OPENID_METADATA_PATH, wellKnown } from './addresses.ts'

/** How tokens of one issuer are checked. */
export interface TokenIssuer {
  readonly issuer: string
  readonly algorithms: readonly string[]
  readonly keyOf: JWTVerifyGetKey
  /** Another one where tokens that were verified before may no longer count: a key was rotated or revoked. */
  readonly version?: () => Promise<string>
}

const OUTSIDE_ALGORITHMS = ['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519']
const FETCH_TIMEOUT_MS = 5_000
const MAXIMUM_DOCUMENT_BYTES = 262_144
/** A stranger's token with an unknown key id makes us fetch keys at most this often. */
const KEYS_COOLDOWN_MS = 30_000
/** And it makes us look for an issuer that is down at most this often. */
const DISCOVERY_COOLDOWN_MS = 2_000
const KEYS_MAXIMUM_AGE_MS = 600_000

/** The embedded authorization server: its keys are ours, nothing is fetched. */
export function embeddedIssuer(issuer: string, tokenKeys: TokenKeySource): TokenIssuer {
  let known: { version: string; keyOf: ReturnType<typeof createLocalJWKSet> } | undefined
  return {
    issuer,
    algorithms: ['ES256'],
    version: async () => (await tokenKeys()).version,
    async keyOf(header, token) {
      // Another process may have begun to sign with a key that this one has not read yet.
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
 * An outside issuer, found when its first token arrives, so that the exchange starts while it is down. Its
 * keys are fetched from the address in its metadata (RFC 8414, or OpenID Connect discovery).
 */
export function outsideIssuer(issuer: string, clock: Clock): TokenIssuer {
  let found: Promise<JWTVerifyGetKey> | undefined
  let failedAt: number | undefined
  return {
    issuer,
    algorithms: OUTSIDE_ALGORITHMS,
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
    wellKnown(issuer, SERVER_METADATA_PATH),
    issuer.replace(/\/$/, '') + OPENID_METADATA_PATH,
  ]
  const failures: unknown[] = []
  for (const address of addresses) {
    try {
      const metadata = (await (await fetchBounded(address)).json()) as Record<string, unknown>
      // RFC 8414 section 3.3: metadata that speaks for somebody else must not be used.
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

/** TLS unless on this machine, no redirect, and an end to time and size. */
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
    if (size > MAXIMUM_DOCUMENT_BYTES) throw new Error(`${address} answered too much`)
    chunks.push(chunk)
  }
  return new Response(Buffer.concat(chunks), { status: 200, headers: { 'content-type': 'application/json' } })
}
