import { encodeBase64url, parseDigest, sha256Digest } from '@agent-exchange/crypto'

/** An idempotency key derived from the intent, so that every retry uses the same key. */
export async function deterministicKey(prefix: string, ...parts: readonly string[]): Promise<string> {
  const digest = await sha256Digest(new TextEncoder().encode(JSON.stringify(parts)))
  return `${prefix}-${encodeBase64url(parseDigest(digest))}`
}
