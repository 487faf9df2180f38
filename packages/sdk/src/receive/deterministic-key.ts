import { encodeBase64url, parseDigest, sha256Digest } from '@agent-exchange/crypto'

/** One key for one intent, whoever repeats it and after whatever crash. */
export async function deterministicKey(prefix: string, ...parts: readonly string[]): Promise<string> {
  const digest = await sha256Digest(new TextEncoder().encode(JSON.stringify(parts)))
  return `${prefix}-${encodeBase64url(parseDigest(digest))}`
}
