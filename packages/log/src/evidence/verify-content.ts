import {
  CryptoError,
  matchContentDigest,
  parseEnvelope,
  verifyEnvelope,
  type ParsedEnvelope,
} from '@agent-exchange/crypto'
import { MEDIA_TYPE } from '@agent-exchange/protocol'
import { MAXIMUM_DEPTH } from './evidence-bundle.ts'
import { differingMembers } from './differing-members.ts'
import type { RingKey } from './key-ring.ts'
import { judgeKey } from './key-verdict.ts'
import { isSigned, reportSignature, type PackageCase } from './package-case.ts'
import { acceptanceOf } from './verify-acceptance.ts'

const WHAT = 'the sender signed the content'

/** Evidence holds no content; whoever kept the envelope can have it compared with the rest. */
export async function verifyContent(subject: PackageCase): Promise<boolean> {
  const { content, metadata, findings, packageId } = subject
  if (!content) {
    findings.unverifiable(
      'the signature of the sender over the content',
      'Evidence holds metadata only. Give the envelope as it was downloaded.',
      packageId,
    )
    return false
  }
  const matched = await matchContent(subject, content)
  if ('fault' in matched) {
    findings.check(WHAT, false, matched.fault, { packageId })
    return false
  }
  const { envelope, key, arrivedAt, position } = matched
  const holds = await isSigned(({ publicKey }) => verifyEnvelope(envelope, publicKey), key)
  const verdict = judgeKey(key, { claimedAt: metadata.created_at, arrivedAt })
  return reportSignature(subject, WHAT, holds, verdict, { signer: key.signer, position })
}

type Matched =
  | {
      readonly envelope: ParsedEnvelope
      readonly key: RingKey
      readonly arrivedAt: string
      /** Of the entry that records the acceptance. */
      readonly position: number
    }
  | { readonly fault: string }

/** Metadata, digest and key are those that the evidence names. */
async function matchContent(
  { metadata, ring, profile, entries }: PackageCase,
  content: Uint8Array,
): Promise<Matched> {
  const envelope = readEnvelope(content, [MEDIA_TYPE.reasoningPackage, ...profile['O-35'].content_types])
  if (!envelope) return { fault: 'it is not an envelope of the protocol' }
  const members = differingMembers(metadata, Object(envelope.metadata) as object)
  if (members.length > 0) return { fault: `it has other metadata: ${members.join(', ')}` }
  const rule = await matchContentDigest(envelope, metadata.content_digest)
  if (rule === undefined) return { fault: 'its digest is another one' }
  const acceptance = acceptanceOf(entries)
  acceptance?.expectIfPresent('proof/content_digest_rule', rule)
  const key = ring.find(metadata.sender_agent_id, envelope.kid)
  const arrivedAt = acceptance?.textAt('proof/acceptance/accepted_at')
  if (!key || !acceptance || arrivedAt === undefined)
    return { fault: 'the signature names no key of the sender' }
  // In ds_x the platform has seen the manifest alone.
  const isNative = metadata.transport_mode === 'native'
  const isSameKey = acceptance.at('proof/acceptance/signing_key_id') === envelope.kid
  return isNative && !isSameKey
    ? { fault: 'the platform accepted it under another key' }
    : { envelope, key, arrivedAt, position: acceptance.value.position }
}

function readEnvelope(content: Uint8Array, contentTypes: readonly string[]): ParsedEnvelope | undefined {
  try {
    return parseEnvelope(content, { contentTypes, maxDepth: MAXIMUM_DEPTH })
  } catch (error) {
    if (error instanceof CryptoError) return undefined
    throw error
  }
}
