import { canonicalBytes, parseDigest, sha256Digest } from '@agent-exchange/crypto'
import type { JsonObject, PolicyEnvelope, ProtocolObject } from '@agent-exchange/protocol'
import type { Identity } from '../context.ts'
import type { Draft } from '../send/send-input.ts'
import type { PolicySettings } from '../policy/policy-check.ts'

const FORMAT = 'aex-draft-content/1'

interface Party {
  readonly organization_id: string
  readonly agent_id: string
}

/** What will be sealed, for whom and under which terms. The digest that a person approves covers all of it. */
export interface DraftDocument {
  readonly format: typeof FORMAT
  readonly sender: Party
  readonly recipient: Party
  readonly package_id: string
  readonly thread_id: string
  readonly responds_to_package_id?: string
  readonly content_type: string
  readonly skill: { readonly id: string; readonly version: string }
  readonly expires_at?: string
  readonly require_skill_release?: boolean
  readonly require_approval?: boolean
  readonly policy_settings?: PolicySettings
  readonly policy: PolicyEnvelope
  readonly object: ProtocolObject
}

const text = { type: 'string', minLength: 1, maxLength: 512 }
const closed = (properties: JsonObject, optional: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})
const party = closed({ organization_id: text, agent_id: text })
const settings = closed(
  {
    disclosureLevels: { type: 'array', maxItems: 100, items: text },
    maximumSensitivity: { enum: ['public', 'internal', 'confidential', 'restricted'] },
  },
  ['disclosureLevels', 'maximumSensitivity'],
)

/** The shape of the document. The schemas of object and policy are applied at creation and again before sealing. */
export const DRAFT_DOCUMENT_SCHEMA = closed(
  {
    format: { const: FORMAT },
    sender: party,
    recipient: party,
    package_id: text,
    thread_id: text,
    responds_to_package_id: text,
    content_type: text,
    skill: closed({ id: text, version: text }),
    expires_at: text,
    require_skill_release: { type: 'boolean' },
    require_approval: { type: 'boolean' },
    policy_settings: settings,
    policy: { type: 'object' },
    object: { type: 'object' },
  },
  ['responds_to_package_id', 'expires_at', 'require_skill_release', 'require_approval', 'policy_settings'],
)

export function toDocument(sender: Identity, draft: Draft): DraftDocument {
  const { to, packageId, threadId, respondsTo, contentType, skill, policy, object } = draft
  const { expiresAt, requireSkillRelease, requireApproval, policySettings } = draft
  return {
    format: FORMAT,
    sender: { organization_id: sender.organizationId, agent_id: sender.agentId },
    recipient: { organization_id: to.organizationId, agent_id: to.agentId },
    package_id: packageId,
    thread_id: threadId,
    ...(respondsTo !== undefined && { responds_to_package_id: respondsTo }),
    content_type: contentType,
    skill: { id: skill.id, version: skill.version },
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(requireSkillRelease !== undefined && { require_skill_release: requireSkillRelease }),
    ...(requireApproval !== undefined && { require_approval: requireApproval }),
    ...(policySettings !== undefined && { policy_settings: policySettings }),
    policy,
    object,
  }
}

export function fromDocument(document: DraftDocument): Draft {
  const { recipient, responds_to_package_id: respondsTo, expires_at: expiresAt } = document
  const { require_skill_release: requireSkillRelease, policy_settings: policySettings } = document
  const { require_approval: requireApproval } = document
  return {
    packageId: document.package_id,
    threadId: document.thread_id,
    to: { organizationId: recipient.organization_id, agentId: recipient.agent_id },
    contentType: document.content_type,
    skill: document.skill,
    policy: document.policy,
    object: document.object,
    ...(respondsTo !== undefined && { respondsTo }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(requireSkillRelease !== undefined && { requireSkillRelease }),
    ...(requireApproval !== undefined && { requireApproval }),
    ...(policySettings !== undefined && { policySettings }),
  }
}

/** SHA-256 over RFC 8785 of the document: one changed byte gives another digest. */
export function draftDigest(document: DraftDocument): Promise<string> {
  return sha256Digest(canonicalBytes(document))
}

const ID_BYTES = 16
const DRAFT_ID = /^draft_[0-9a-f]{32}$/u

/** The first 128 bits of the digest: an id names one content. */
export function draftIdOf(digest: string): string {
  const bytes = parseDigest(digest).subarray(0, ID_BYTES)
  return `draft_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

export function isDraftId(id: string): boolean {
  return DRAFT_ID.test(id)
}
