import {
  canonicalBytes,
  sealedContentDigest,
  sealPackage,
  signEnvelope,
  writeAdditionalData,
  type SigningKey,
} from '@agent-exchange/crypto'
import {
  isEarlier,
  PROTOCOL_VERSION,
  type PackageMetadata,
  type PolicyReceipt,
  type ProtocolObject,
  type TransportMode,
} from '@agent-exchange/protocol'
import { randomId } from '../connection/random-id.ts'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import type { PolicyEvaluation } from '../policy/evaluate-policy.ts'
import { DAY_MILLISECONDS } from '../policy/retention-and-forwarding.ts'
import { contentDifferences } from '../objects/content-comparison.ts'
import { DEFAULT_EXPIRY_DAYS } from './send-limits.ts'
import type { OutboxEntry } from '../outbox/outbox.ts'
import { currentSigningKey, ownParty } from '../agent-keys/own-keys.ts'
import { signedPolicyReceipt } from './policy-receipt.ts'
import type { Draft } from './send-input.ts'

export interface Sealing {
  readonly draft: Draft
  readonly evaluation: PolicyEvaluation
  readonly evaluatedAt: string
  readonly approval: PolicyReceipt['human_approval']
  readonly transportMode: TransportMode
}

/**
 * Creates sealed content, signed policy receipt and signed envelope. Sends nothing. The object is sealed as it was
 * approved; only the metadata carry the time of sealing.
 */
export async function sealDraft(context: AgentContext, sealing: Sealing): Promise<OutboxEntry> {
  const { draft, transportMode } = sealing
  const routing = routingOf(context, draft, creationTime(context, sealing))
  const checkpoint = await verifiedCheckpoint(context)
  const jwe = await sealPackage(canonicalBytes(draft.object), {
    sender: await ownParty(context),
    recipient: await recipientParty(context, draft),
    aad: (keyCommitment) =>
      writeAdditionalData(routing, { keyCommitment, ...(checkpoint !== undefined && { checkpoint }) }),
    contentType: draft.contentType,
  })
  const metadata: PackageMetadata = {
    ...routing,
    content_digest: await sealedContentDigest(jwe),
    transport_mode: transportMode,
  }
  const signer = await currentSigningKey(context)
  const receipt = await signedPolicyReceipt(context, { ...sealing, metadata, signer })
  requireAgreement(context, draft.object, metadata, receipt)
  const envelopeText = await envelopeTextOf({ metadata, jwe }, signer)
  requireSize(context, envelopeText)
  const now = context.now().toISOString()
  return {
    packageId: metadata.package_id,
    state: 'sealed',
    revision: 0,
    transportMode,
    metadata,
    receiptText: JSON.stringify(receipt),
    receiptKey: randomId('idem'),
    envelopeText,
    packageKey: randomId('idem'),
    createdAt: now,
    updatedAt: now,
  }
}

/** A note with the cosignatures of dozens of witnesses; a larger one is left out. */
const MAXIMUM_CHECKPOINT_CHARACTERS = 8_192

/** The sender's view of the log: the recipient demands that its own view is the same history. */
async function verifiedCheckpoint({ log }: AgentContext): Promise<string | undefined> {
  const note = (await log.read())?.checkpoint
  return note === undefined || note.length > MAXIMUM_CHECKPOINT_CHARACTERS ? undefined : note
}

export async function envelopeTextOf(
  content: Parameters<typeof signEnvelope>[0],
  { key, keyId }: SigningKey,
): Promise<string> {
  return JSON.stringify(await signEnvelope(content, { key, kid: keyId }))
}

/** POL-04: not before evaluation and approval, even if the clock was set back. */
function creationTime({ now }: AgentContext, { evaluatedAt, approval }: Sealing): string {
  return [evaluatedAt, approval.approved_at, now().toISOString()]
    .filter((time) => time !== undefined)
    .reduce((latest, time) => (isEarlier(latest, time) === true ? time : latest))
}

function routingOf({ identity }: AgentContext, draft: Draft, createdAt: string) {
  const { object, packageId, to, threadId, skill, contentType, respondsTo } = draft
  return {
    package_id: packageId,
    thread_id: threadId,
    sender_org_id: identity.organizationId,
    sender_agent_id: identity.agentId,
    recipient_org_id: to.organizationId,
    recipient_agent_id: to.agentId,
    protocol_version: PROTOCOL_VERSION,
    schema_version: object.schema_version,
    skill_id: skill.id,
    skill_version: skill.version,
    created_at: createdAt,
    expires_at: draft.expiresAt ?? defaultExpiry(draft, createdAt),
    content_type: contentType,
    policy_receipt_id: randomId('receipt'),
    ...(respondsTo !== undefined && { responds_to_package_id: respondsTo }),
  }
}

function defaultExpiry({ policy }: Draft, createdAt: string): string {
  const days = Math.min(DEFAULT_EXPIRY_DAYS, policy.retention.duration_days)
  return new Date(Date.parse(createdAt) + days * DAY_MILLISECONDS).toISOString()
}

async function recipientParty({ peers }: AgentContext, { to }: Draft) {
  const { keyId, publicKey, organizationId } = await peers.encryptionKey(to.agentId)
  if (organizationId !== to.organizationId) {
    const what = 'The agent belongs to another organization than the one named.'
    throw new ExchangeError('peer_unknown', { what, details: { agentId: to.agentId } })
  }
  return { kid: keyId, publicKey }
}

/** The comparison that the recipient will make, by the rules of this agent. */
function requireAgreement(
  { deployment: { profile } }: AgentContext,
  object: ProtocolObject,
  metadata: PackageMetadata,
  receipt: PolicyReceipt,
): void {
  const failures = contentDifferences(object, metadata, receipt, profile['O-35']).map((pointer) => ({
    pointer,
    rule: 'PKG-01',
    message: 'Set this to what the package is sent as: its thread, sender, recipient and policy.',
  }))
  if (failures.length > 0) throw new ExchangeError('object_invalid', { failures })
}

function requireSize({ deployment: { profile } }: AgentContext, envelopeText: string): void {
  const { request_bytes: maximumBytes } = profile['O-14']
  const { length: bytes } = new TextEncoder().encode(envelopeText)
  if (bytes > maximumBytes) throw new ExchangeError('content_too_large', { details: { bytes, maximumBytes } })
}
