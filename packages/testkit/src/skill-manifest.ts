import type { SkillManifest } from '@agent-exchange/protocol'

/** What an operator publishes with the artifact of a skill. */
export function draftSkillManifest(changes: Partial<SkillManifest> = {}): SkillManifest {
  return {
    skill_id: 'skill_align',
    version: '1.0.0',
    release_channel: 'preview',
    protocol_range: 'svc/1.0',
    schema_refs: ['https://schemas.example/reasoning_package.schema.json'],
    update_policy: {
      classification: 'initial',
      supersedes: null,
      download_policy: 'automatic_allowed',
      activation_policy: 'operator_approval_required',
      minimum_supported_version: '1.0.0',
    },
    ...changes,
  }
}
