import {
  matchContentDigest,
  parseEnvelope,
  unlessRefused,
  verifyEnvelope,
  type ParsedEnvelope,
} from '@agent-exchange/crypto'
import { MEDIA_TYPE } from '@agent-exchange/protocol'
import type { FaultCode } from '../verdict/fault-codes.ts'
import { MAXIMUM_DEPTH } from './evidence-bundle.ts'
import { differingMembers } from './differing-members.ts'
import type { RingKey } from './key-ring.ts'
import { judgeKey } from './key-verdict.ts'
import { isSigned, reportSignature, type PackageCase } from './package-case.ts'
import { acceptanceOf } from './verify-acceptance.ts'

/** Evidence holds no content; whoever kept the envelope can have it compared with the rest. */
export async function verifyContent(subject: PackageCase): Promise<boolean> {
  const { content, metadata, checks, packageId } = subject
  if (!content) {
    checks.unproved('content_signature', { package_id: packageId, values: { fault: 'not_given' } })
    return false
  }
  const matched = await matchContent(subject, content)
  if ('fault' in matched) return checks.fails('content_signature', { package_id: packageId, values: matched })
  const { envelope, key, arrivedAt, position } = matched
  const holds = await isSigned(({ publicKey }) => verifyEnvelope(envelope, publicKey), key)
  const verdict = judgeKey(key, { claimedAt: metadata.created_at, arrivedAt })
  return reportSignature(subject, { code: 'content_signature', holds, verdict, key, position })
}

type Matched =
  | {
      readonly envelope: ParsedEnvelope
      readonly key: RingKey
      readonly arrivedAt: string
      /** Of the entry that records the acceptance. */
      readonly position: number
    }
  | { readonly fault: FaultCode; readonly members?: string }

/** Metadata, digest and key are those that the evidence names. */
async function matchContent(
  { metadata, ring, profile, entries }: PackageCase,
  content: Uint8Array,
): Promise<Matched> {
  const contentTypes = [MEDIA_TYPE.reasoningPackage, ...profile['O-35'].content_types]
  const envelope = unlessRefused(() => parseEnvelope(content, { contentTypes, maxDepth: MAXIMUM_DEPTH }))
  if (!envelope) return { fault: 'not_envelope' }
  const members = differingMembers(metadata, Object(envelope.metadata) as object)
  if (members.length > 0) return { fault: 'other_metadata', members: members.join(', ') }
  const rule = await matchContentDigest(envelope, metadata.content_digest)
  if (rule === undefined) return { fault: 'other_digest' }
  const acceptance = acceptanceOf(entries)
  acceptance?.expectIfPresent('proof/content_digest_rule', rule)
  const key = ring.find(metadata.sender_agent_id, envelope.kid)
  const arrivedAt = acceptance?.textAt('proof/acceptance/accepted_at')
  if (!key || !acceptance || arrivedAt === undefined) return { fault: 'key_unknown' }
  // In ds_x the platform has seen the manifest alone.
  const isNative = metadata.transport_mode === 'native'
  const isSameKey = acceptance.at('proof/acceptance/signing_key_id') === envelope.kid
  return isNative && !isSameKey
    ? { fault: 'other_key' }
    : { envelope, key, arrivedAt, position: acceptance.value.position }
}
