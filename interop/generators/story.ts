import {
  canonicalBytes,
  canonicalize,
  sealedContentDigest,
  sealPackage,
  sha256Digest,
} from '@agent-exchange/crypto'
import type { SealedPackage } from '@agent-exchange/crypto'
import {
  type EdcReferences,
  exampleObjects,
  MEDIA_TYPE,
  type NotificationEnvelope,
  type PackageMetadata,
  type PackageReceiptRequest,
  type PackageRevocationRequest,
  POLICY_CHECK_IDS,
  type PolicyReceipt,
  PROTOCOL_VERSION,
  type SkillRelease,
} from '@agent-exchange/protocol'
import { utf8 } from '../profiles/profile.ts'
import { KEY, publicKey } from '../test-keys.ts'

/** Unsigned documents of one conversation, with consistent references. */
export interface Story {
  readonly plaintext: string
  readonly aad: Uint8Array
  readonly jwe: SealedPackage
  readonly metadata: PackageMetadata
  readonly policyReceipt: Omit<PolicyReceipt, 'signature'>
  readonly manifest: { transport_mode: 'ds_x'; metadata: PackageMetadata; edc: EdcReferences }
  readonly receipt: Omit<PackageReceiptRequest, 'signature'>
  readonly revocation: Omit<PackageRevocationRequest, 'signature'>
  readonly release: Omit<SkillRelease, 'manifest_signature'>
  readonly notification: NotificationEnvelope
}

const { reasoning_package: inner, policy_envelope: policy } = exampleObjects
const [recipient] = policy.allowed_recipients

export async function tellStory(): Promise<Story> {
  const plaintext = canonicalize(inner)
  const route = {
    package_id: inner.id,
    thread_id: inner.thread_id,
    sender_org_id: inner.sender.organization_id,
    sender_agent_id: inner.sender.agent_id,
    recipient_org_id: recipient ?? '',
    recipient_agent_id: 'agent_carmaker_supply',
    protocol_version: PROTOCOL_VERSION,
    skill_id: 'skill_supply_alignment',
    skill_version: '1.4.0',
  }
  const aad = canonicalBytes(route)
  const jwe = await sealPackage(utf8(plaintext), {
    sender: { kid: KEY.senderEncryption, publicKey: await publicKey(KEY.senderEncryption) },
    recipient: { kid: KEY.recipientEncryption, publicKey: await publicKey(KEY.recipientEncryption) },
    aad,
  })
  const content_digest = await sealedContentDigest(jwe)
  const metadata: PackageMetadata = {
    ...route,
    schema_version: inner.schema_version,
    created_at: inner.created_at,
    expires_at: '2026-04-01T08:00:00Z',
    content_type: MEDIA_TYPE.reasoningPackage,
    content_digest,
    transport_mode: 'native',
    policy_receipt_id: 'polrcpt_seat_rails_1',
  }
  return {
    plaintext,
    aad,
    jwe,
    metadata,
    policyReceipt: {
      policy_receipt_id: metadata.policy_receipt_id,
      receipt_version: '1.0.0',
      ...route,
      content_digest,
      policy_id: policy.policy_id,
      policy_schema_version: policy.schema_version,
      policy_digest: await sha256Digest(canonicalBytes(policy)),
      checks: POLICY_CHECK_IDS.map((check_id) => ({ check_id, outcome: 'passed' })),
      human_approval: {
        required: true,
        outcome: 'approved',
        approval_reference: 'approval_4711',
        approved_at: '2026-03-02T07:58:00Z',
      },
      evaluated_at: '2026-03-02T07:59:00Z',
      // Non-ASCII on purpose: UTF-8 is signed, not escapes.
      statement: 'The five checks were made before sealing – geprüft.',
    },
    manifest: {
      transport_mode: 'ds_x',
      metadata: { ...metadata, transport_mode: 'ds_x' },
      edc: {
        connector_id: 'connector_seats_1',
        asset_id: 'asset_seat_rails_1',
        asset_digest: content_digest,
        contract_agreement_id: 'agreement_2026_017',
      },
    },
    receipt: {
      receipt_id: 'rcpt_seat_rails_1_received',
      state: 'received',
      occurred_at: '2026-03-02T08:05:00Z',
      actor_agent_id: route.recipient_agent_id,
      package_digest: content_digest,
    },
    revocation: {
      requested_at: '2026-03-02T08:30:00Z',
      reason_code: 'superseded',
      reason_detail: 'A corrected package follows.',
    },
    release: {
      skill_id: route.skill_id,
      version: route.skill_version,
      release_channel: 'preview',
      protocol_range: PROTOCOL_VERSION,
      schema_refs: ['https://exchange.example/schemas/reasoning_package.schema.json'],
      artifact_url: 'https://exchange.example/artifacts/skill_supply_alignment-1.4.0.tar',
      artifact_digest: await sha256Digest(utf8('the bytes of the artifact')),
      published_at: '2026-02-20T12:00:00Z',
      update_policy: {
        classification: 'initial',
        supersedes: null,
        download_policy: 'automatic_allowed',
        activation_policy: 'operator_approval_required',
        minimum_supported_version: '1.0.0',
      },
    },
    notification: {
      notification_id: 'ntf_000000000017',
      event_id: 'evt_seat_rails_1_accepted',
      event_type: 'package.accepted',
      protocol_version: PROTOCOL_VERSION,
      sequence: 17,
      occurred_at: '2026-03-02T08:00:01Z',
      organization_id: route.recipient_org_id,
      package_id: route.package_id,
      thread_id: route.thread_id,
      state: 'accepted',
      transport_mode: 'native',
      content_digest,
      correlation_id: 'corr_seat_rails_w12',
    },
  }
}
