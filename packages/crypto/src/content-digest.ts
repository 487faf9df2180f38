import { decodeBase64url } from './base64.ts'
import { canonicalize } from './canonical-json.ts'
import { parseDigest, sha256Digest } from './digest.ts'
import type { ParsedEnvelope } from './envelope.ts'
import type { SealedPackage } from './sealed-package-shape.ts'

type Content = Pick<ParsedEnvelope, 'jwe' | 'jweText'>

/** Which bytes content_digest covers in native mode is an open point (O-17); these rules are accepted. */
export const CONTENT_DIGEST_RULES = ['jcs-jwe', 'jwe-text', 'ciphertext-bytes'] as const

export type ContentDigestRule = (typeof CONTENT_DIGEST_RULES)[number]

const COVERED_BY_RULE: Readonly<Record<ContentDigestRule, (content: Content) => Uint8Array | string>> = {
  /** RFC 8785 of the `jwe` object: what our SDK writes. */
  'jcs-jwe': ({ jwe }) => canonicalSealed(jwe),
  /** The text of `jwe` as submitted. */
  'jwe-text': ({ jweText }) => jweText,
  /** The decoded ciphertext. */
  'ciphertext-bytes': ({ jwe }) => decodeBase64url(jwe.ciphertext),
}

/**
 * RFC 8785 of a validated sealed package. Its strings are base64url, which needs no escaping, so they are inserted
 * unchanged: escaping them would cost more than hashing them.
 */
export function canonicalSealed({
  aad,
  ciphertext,
  iv,
  protected: header,
  recipients,
  tag,
}: SealedPackage): string {
  return `{"aad":"${aad}","ciphertext":"${ciphertext}","iv":"${iv}","protected":"${header}","recipients":${canonicalize(recipients)},"tag":"${tag}"}`
}

/** The content_digest that our SDK writes into metadata and policy receipt. */
export function sealedContentDigest(jwe: SealedPackage): Promise<string> {
  return sha256Digest(canonicalize(jwe))
}

function contentDigest(content: Content, rule: ContentDigestRule): Promise<string> {
  return sha256Digest(COVERED_BY_RULE[rule](content))
}

/** The content digest for each rule. */
export async function contentDigests(content: Content): Promise<Record<ContentDigestRule, string>> {
  return {
    'jcs-jwe': await contentDigest(content, 'jcs-jwe'),
    'jwe-text': await contentDigest(content, 'jwe-text'),
    'ciphertext-bytes': await contentDigest(content, 'ciphertext-bytes'),
  }
}

/** The first rule for which the content has this digest, or undefined. */
export async function matchContentDigest(
  content: Content,
  digest: string,
  rules: readonly ContentDigestRule[] = CONTENT_DIGEST_RULES,
): Promise<ContentDigestRule | undefined> {
  // A well-formed digest has a single representation and is not secret, so strings can be compared.
  parseDigest(digest)
  for (const rule of rules) {
    if (digest === (await contentDigest(content, rule))) return rule
  }
  return undefined
}
