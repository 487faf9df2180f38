import { sha256Digest } from '@agent-exchange/crypto'
import { protocolRangeFailures, type SkillManifest, type SkillRelease } from '@agent-exchange/protocol'
import type { Transaction } from '@agent-exchange/database'
import { assertBounds } from '../../kernel/bounds.ts'
import type { Context } from '../../kernel/context.ts'
import { Problem } from '../../kernel/problem.ts'
import { artifactAddress } from './artifact-address.ts'
import { insertArtifact, insertRelease } from './skill-store.ts'

export const MAXIMUM_ARTIFACT_BYTES = 16 * 1_024 * 1_024

/** ID-10: builds the immutable release and signs it with the platform key. Stores nothing. */
export async function signRelease(
  manifest: SkillManifest,
  artifact: Uint8Array,
  { context, now }: { context: Context; now: string },
): Promise<SkillRelease> {
  const { skill_id, version, release_channel, protocol_range, schema_refs, update_policy } = manifest
  if (artifact.length > MAXIMUM_ARTIFACT_BYTES) {
    throw new Problem('payload_too_large', { maximum_bytes: MAXIMUM_ARTIFACT_BYTES })
  }
  assertBounds(context.profile, {
    identifiers: [
      ['/manifest/skill_id', skill_id],
      ['/manifest/version', version],
    ],
    texts: [
      ['/manifest/release_channel', release_channel],
      ['/manifest/protocol_range', protocol_range],
      ...schema_refs.map((uri, index) => [`/manifest/schema_refs/${index}`, uri] as const),
    ],
    lists: [['/manifest/schema_refs', schema_refs.length]],
  })
  const failures = protocolRangeFailures(protocol_range, '/manifest/protocol_range')
  if (failures.length > 0) throw new Problem('validation_failed', { failures })
  const artifact_digest = await sha256Digest(artifact)
  const release = {
    skill_id,
    version,
    release_channel,
    protocol_range,
    schema_refs,
    artifact_url: artifactAddress(context.publicUrl, artifact_digest),
    artifact_digest,
    published_at: now,
    update_policy,
  }
  return { ...release, manifest_signature: await context.platform.sign(release, 'manifest_signature') }
}

export async function publishRelease(
  tx: Transaction,
  release: SkillRelease,
  artifact: Uint8Array,
): Promise<void> {
  const { artifact_digest: digest, published_at: now } = release
  await insertArtifact(tx, { digest, content: artifact, now })
  const isNew = await insertRelease(tx, {
    skillId: release.skill_id,
    version: release.version,
    protocolRange: release.protocol_range,
    body: JSON.stringify(release),
    artifactDigest: digest,
    now,
  })
  if (!isNew) throw new Problem('identifier_conflict', { exists: `${release.skill_id} ${release.version}` })
}
