import { Type, type Static } from 'typebox'
import { inUse, ours, proves } from '../schema/annotations.ts'
import { define } from '../schema/define.ts'
import { digest, signature, timestamp } from '../schema/shared.ts'
import { lastPageHasNoCursor, name, request, resource, text, uri } from './forms.ts'

const vocabulary = (...values: string[]) => Type.String({ ...ours('O-06'), ...inUse(...values) })

const updatePolicy = Type.Object({
  classification: vocabulary('initial'),
  supersedes: Type.Union([text, Type.Null()]),
  download_policy: vocabulary('automatic_allowed'),
  activation_policy: vocabulary('operator_approval_required'),
  minimum_supported_version: text,
})

const manifestFields = {
  skill_id: name,
  version: name,
  release_channel: vocabulary('preview'),
  protocol_range: Type.String({ minLength: 1, ...ours('O-06') }),
  schema_refs: Type.Array(uri),
  update_policy: updatePolicy,
}

/** The input of an operator for a release; the exchange adds digest, URL, time and signature. */
export const skillManifest = define(
  'SkillManifest',
  request(manifestFields, { ...proves({ default: 'ID-10', additionalProperties: 'O-29' }), ...ours('O-20') }),
)

export const skillRelease = define(
  'SkillRelease',
  resource({
    ...manifestFields,
    artifact_url: uri,
    artifact_digest: digest,
    published_at: timestamp,
    manifest_signature: signature,
  }),
)

export const skillReleasePage = define(
  'SkillReleasePage',
  resource({ items: Type.Array(skillRelease), next_cursor: lastPageHasNoCursor, has_more: Type.Boolean() }),
)

export type SkillManifest = Static<typeof skillManifest>
export type SkillRelease = Static<typeof skillRelease>
export type SkillReleasePage = Static<typeof skillReleasePage>
