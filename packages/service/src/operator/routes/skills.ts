import { skillManifest, type SkillRelease } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import { MAXIMUM_ARTIFACT_BYTES, publishRelease, signRelease } from '../../features/skills/publish-release.ts'
import { releasesAfter } from '../../features/skills/skill-store.ts'
import { Problem } from '../../kernel/problem.ts'
import { listPage, page } from '../listing.ts'
import { change, input, optionalReason, read, type Route } from '../route.ts'

const MAXIMUM_MANIFEST_BYTES = 1_048_576
const BASE64_GROWTH = 4 / 3
const MAXIMUM_PUBLICATION_BYTES = Math.ceil(MAXIMUM_ARTIFACT_BYTES * BASE64_GROWTH) + MAXIMUM_MANIFEST_BYTES

const publication = input({
  manifest: skillManifest,
  artifact: Type.String({ description: 'the artifact in base64' }),
  reason: optionalReason,
})

export const publishSkill = change(
  '/skills',
  { body: publication, status: 201, maximumBytes: MAXIMUM_PUBLICATION_BYTES },
  async ({ input: { manifest, artifact }, context, now }, tx) => {
    const content = decodeArtifact(artifact)
    const release = await signRelease(manifest, content, { context, now })
    await publishRelease(tx, release, content)
    return {
      answer: release,
      action: 'skill.publish',
      target: `${release.skill_id} ${release.version}`,
      details: { artifact_digest: release.artifact_digest, artifact_bytes: content.length },
    }
  },
)

/** In the order of publication. */
export const readSkills = read('/skills', page, (call, db) =>
  listPage(
    call,
    {
      name: ['skills'],
      rows: (after, limit) => releasesAfter(db, Number(after ?? 0), limit),
      position: (row) => row.position,
    },
    (row) => JSON.parse(row.body) as SkillRelease,
  ),
)

export const skillRoutes: readonly Route[] = [publishSkill, readSkills]

function decodeArtifact(base64: string): Uint8Array {
  const bytes = Buffer.from(base64, 'base64')
  // Node ignores invalid base64 characters, so the text must survive a round trip.
  if (bytes.length > 0 && bytes.toString('base64') === base64) return bytes
  const message = 'Use the non-empty artifact in base64 with padding.'
  throw new Problem('validation_failed', { failures: [{ pointer: '/artifact', rule: 'ID-10', message }] })
}
