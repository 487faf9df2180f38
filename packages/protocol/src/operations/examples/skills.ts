import type { SkillRelease, SkillReleasePage } from '../../resources/skills.ts'
import { DIGEST, EXAMPLE_EXCHANGE, signedBy, SKILL, TIME } from './story.ts'

/** An artifact is addressed by its digest in hexadecimal. */
const ARTIFACT = '2f499905134de93ecf13398e7844653edf6b46508ab348956774606f163089c8'

export const skillRelease: SkillRelease = {
  skill_id: SKILL.skill_id,
  version: SKILL.skill_version,
  release_channel: 'preview',
  protocol_range: 'svc/1.0',
  schema_refs: [`${EXAMPLE_EXCHANGE}/schemas/reasoning_package.schema.json`],
  update_policy: {
    classification: 'initial',
    supersedes: null,
    download_policy: 'automatic_allowed',
    activation_policy: 'operator_approval_required',
    minimum_supported_version: SKILL.skill_version,
  },
  artifact_url: `${EXAMPLE_EXCHANGE}/skills/artifacts/${ARTIFACT}`,
  artifact_digest: DIGEST.artifact,
  published_at: TIME.registered,
  manifest_signature: signedBy('platform_sig_1'),
}

export const skillReleasePage: SkillReleasePage = {
  items: [skillRelease],
  next_cursor: null,
  has_more: false,
}
