import {
  canonicalize,
  decodeBase64url,
  digestsEqual,
  encodeBase64url,
  parseContentDigest,
  parseDigest,
  parseStrictJson,
  sha256Digest,
} from '@agent-exchange/crypto'
import { profile, Refusal, utf8 } from './profile.ts'

/** `text` for text, `bytes` (base64url) for input that is not valid text. */
export const canonicalJson = profile(async ({ text, bytes }: { text?: string; bytes?: string }) => {
  const canonical = canonicalize(parseStrictJson(text ?? decodeBase64url(bytes ?? '')))
  return { canonical, digest: await sha256Digest(utf8(canonical)) }
})

export const base64url = profile(async ({ text }: { text: string }) => ({
  hex: Buffer.from(decodeBase64url(text)).toString('hex'),
}))

export const digest = profile(async (input: { bytes?: string; digest: string }) => {
  const sha256 = encodeBase64url(parseDigest(input.digest))
  if (input.bytes !== undefined) {
    const recomputed = await sha256Digest(decodeBase64url(input.bytes))
    if (!digestsEqual(recomputed, input.digest)) throw new Refusal('digest_mismatch')
  }
  return { sha256 }
})

export const contentDigestField = profile(async ({ field }: { field: string }) => ({
  digest: parseContentDigest(field),
}))
