import { canonicalBytes, parseDigest, sha256Digest } from '@agent-exchange/crypto'
import type { PolicyEnvelope, ProtocolObject } from '@agent-exchange/protocol'
import { Type, type Static } from 'typebox'
import type { Identity } from '../context.ts'
import type { Draft } from '../send/send-input.ts'
import type { PolicySettings } from '../policy/policy-check.ts'

const FORMAT = 'aex-draft-content/1'

const text = Type.String({ minLength: 1, maxLength: 512 })
const flag = Type.Boolean()
const CLOSED = { additionalProperties: false }
const party = Type.Object({ organization_id: text, agent_id: text }, CLOSED)
const settings: Record<keyof PolicySettings, unknown> = {
  disclosureLevels: { type: 'array', maxItems: 100, items: text },
  maximumSensitivity: { enum: ['public', 'internal', 'confidential', 'restricted'] },
}

/**
 * What will be sealed, for whom and under which terms. The digest that a person approves covers all of it. The schemas
 * of object and policy are applied at creation and again before sealing.
 */
export const draftDocumentShape = Type.Object(
  {
    format: Type.Literal(FORMAT),
    sender: party,
    recipient: party,
    package_id: text,
    thread_id: text,
    responds_to_package_id: Type.Optional(text),
    content_type: text,
    skill: Type.Object({ id: text, version: text }, CLOSED),
    expires_at: Type.Optional(text),
    require_skill_release: Type.Optional(flag),
    require_approval: Type.Optional(flag),
    policy_settings: Type.Optional(
      Type.Unsafe<PolicySettings>({ type: 'object', ...CLOSED, properties: settings }),
    ),
    policy: Type.Unsafe<PolicyEnvelope>({ type: 'object' }),
    object: Type.Unsafe<ProtocolObject>({ type: 'object' }),
  },
  CLOSED,
)
export type DraftDocument = Readonly<Static<typeof draftDocumentShape>>

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
