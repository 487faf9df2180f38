import { skillManifest } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import { MAXIMUM_ARTIFACT_BYTES, publishRelease, signRelease } from '../../features/skills/publish-release.ts'
import { Problem } from '../../kernel/problem.ts'
import { change, input, optionalReason, type Route } from '../route.ts'

const MAXIMUM_MANIFEST_BYTES = 1_048_576
const BASE64_GROWTH = 4 / 3
const MAXIMUM_PUBLICATION_BYTES = Math.ceil(MAXIMUM_ARTIFACT_BYTES * BASE64_GROWTH) + MAXIMUM_MANIFEST_BYTES

const publication = input({
  manifest: skillManifest,
  artifact: Type.String({ description: 'the artifact in base64' }),
  reason: optionalReason,
})

export const skillRoutes: readonly Route[] = [
  change(
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
  ),
]

function decodeArtifact(base64: string): Uint8Array {
  const bytes = Buffer.from(base64, 'base64')
  // Node ignores invalid base64 characters, so the text must survive a round trip.
  if (bytes.length > 0 && bytes.toString('base64') === base64) return bytes
  const message = 'Use the non-empty artifact in base64 with padding.'
  throw new Problem('validation_failed', { failures: [{ pointer: '/artifact', rule: 'ID-10', message }] })
}
