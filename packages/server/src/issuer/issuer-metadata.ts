import type { JSONWebKeySet } from 'jose'
import { isLoopback } from '../settings/listener-addresses.ts'
import { OPENID_METADATA_PATH, SERVER_METADATA_PATH, wellKnownUrl } from './well-known.ts'

/** For all documents together. */
const FETCH_TIMEOUT_MS = 5_000
const MAXIMUM_DOCUMENT_BYTES = 262_144

/** Discovers the issuer (RFC 8414, then OpenID Connect) and fetches its keys. */
export async function fetchIssuerKeys(issuer: string): Promise<JSONWebKeySet> {
  const addresses = [
    wellKnownUrl(issuer, SERVER_METADATA_PATH),
    issuer.replace(/\/$/, '') + OPENID_METADATA_PATH,
  ]
  const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS)
  const failures: unknown[] = []
  for (const address of addresses) {
    try {
      const metadata = await fetchJson(address, signal)
      // RFC 8414 section 3.3: metadata of another issuer must not be used.
      if (metadata['issuer'] !== issuer) throw new Error(`${address} is the metadata of another issuer`)
      return (await fetchJson(String(metadata['jwks_uri']), signal)) as unknown as JSONWebKeySet
    } catch (error) {
      failures.push(error)
    }
  }
  throw new AggregateError(failures, `the keys of ${issuer} could not be fetched`)
}

/** Fetches a JSON object over TLS (or loopback), without redirects, with limits on time and size. */
async function fetchJson(address: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const { protocol, hostname } = new URL(address)
  if (protocol !== 'https:' && !isLoopback(hostname.replace(/^\[|\]$/gu, '')))
    throw new Error(`${address} is not https`)
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
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>
}
