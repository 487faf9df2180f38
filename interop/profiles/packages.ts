import {
  type ContentDigestRule,
  contentKeyCommitment,
  decodeBase64url,
  encodeBase64url,
  matchContentDigest,
  openPackage,
  parseEnvelope,
  parseStrictJson,
  verifyEnvelope,
} from '@agent-exchange/crypto'
import { packageMetadata, validateObject } from '@agent-exchange/protocol'
import { privateKey, publicKey } from '../test-keys.ts'
import { fromUtf8, profile, Refusal, requireNone, requireSchema } from './profile.ts'

export const exchangeEnvelope = profile(async (input: { body: string; verify_with: string }) => {
  const parsed = parseEnvelope(input.body)
  await verifyEnvelope(parsed, await publicKey(input.verify_with))
  requireSchema(packageMetadata, parsed.metadata)
  return { kid: parsed.kid, metadata: parsed.metadata }
})

export const sealedPackage = profile(async ({ jwe, open_with }: { jwe: unknown; open_with: string }) => {
  const opened = await openPackage(jwe, { kid: open_with, privateKey: await privateKey(open_with) })
  requireNone(validateObject(parseStrictJson(opened.plaintext)).failures)
  return { plaintext: fromUtf8(opened.plaintext), aad: encodeBase64url(opened.aad) }
})

interface ContentDigestInput {
  readonly body: string
  readonly content_digest: string
  readonly rules?: readonly ContentDigestRule[]
}

export const contentDigest = profile(async ({ body, content_digest, rules }: ContentDigestInput) => {
  const rule = await matchContentDigest(parseEnvelope(body), content_digest, rules)
  if (rule === undefined) throw new Refusal('digest_mismatch')
  return { rule }
})

interface CommitmentInput {
  readonly content_key: string
  readonly key_commitment: string
}

export const keyCommitment = profile(async ({ content_key, key_commitment }: CommitmentInput) => {
  if (contentKeyCommitment(decodeBase64url(content_key)) !== key_commitment)
    throw new Refusal('digest_mismatch')
  return { committed: true }
})
