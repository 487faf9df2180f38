import { randomBytes } from 'node:crypto'
import {
  canonicalBytes,
  sealedContentDigest,
  sealPackage,
  sha256Digest,
  signEnvelope,
  signManifest,
  signPackageStatement,
  signPolicyReceipt,
  type Envelope,
  type SealedPackage,
} from '@agent-exchange/crypto'
import {
  exampleObjects,
  MEDIA_TYPE,
  POLICY_CHECK_IDS,
  PROTOCOL_VERSION,
  type DsxPackageBody,
  type PackageMetadata,
  type PolicyReceipt,
} from '@agent-exchange/protocol'
import type { Answer, Organization, RequestOptions } from './test-world.ts'

export interface DraftOptions {
  readonly threadId?: string
  readonly plaintext?: Uint8Array
  readonly respondsTo?: string
  readonly metadata?: Partial<PackageMetadata>
  readonly receipt?: Partial<PolicyReceipt>
  readonly dsx?: {
    readonly connectorId: string
    readonly transferProcessId?: string
    readonly contractAgreementId?: string
  }
  /** Changes the sealed content before it is digested and signed. */
  readonly reseal?: (jwe: SealedPackage) => unknown
  /** The content type, in the metadata and in the JWE header. */
  readonly contentType?: string
}

/** A package that is ready to be submitted, with its policy receipt. */
export interface PackageDraft {
  readonly metadata: PackageMetadata
  readonly receipt: PolicyReceipt
  readonly body: Envelope | DsxPackageBody
}

export const freshId = (prefix: string) => `${prefix}_${randomBytes(16).toString('hex')}`

/** Seals and signs a package and its policy receipt with real keys. */
export async function draftPackage(
  from: Organization,
  to: Organization,
  options: DraftOptions = {},
): Promise<PackageDraft> {
  const plaintext = options.plaintext ?? canonicalBytes(exampleObjects.reasoning_package)
  const sealed = await sealPackage(plaintext, {
    sender: { kid: from.encryption.keyId, publicKey: from.encryption.pair.publicKey },
    recipient: { kid: to.encryption.keyId, publicKey: to.encryption.pair.publicKey },
    ...(options.contentType !== undefined && { contentType: options.contentType }),
  })
  const jwe = (options.reseal?.(sealed) ?? sealed) as SealedPackage
  const now = from.world.clock.now()
  const metadata: PackageMetadata = {
    package_id: freshId(options.respondsTo === undefined ? 'pkg' : 'resp'),
    thread_id: options.threadId ?? freshId('thread'),
    sender_org_id: from.organizationId,
    sender_agent_id: from.agentId,
    recipient_org_id: to.organizationId,
    recipient_agent_id: to.agentId,
    protocol_version: PROTOCOL_VERSION,
    schema_version: '1.0.0',
    skill_id: 'skill_alignment',
    skill_version: '1.0.0',
    created_at: now,
    expires_at: new Date(Date.parse(now) + 86_400_000).toISOString(),
    content_type: options.contentType ?? MEDIA_TYPE.reasoningPackage,
    content_digest: await sealedContentDigest(jwe),
    transport_mode: options.dsx ? 'ds_x' : 'native',
    policy_receipt_id: freshId('receipt'),
    ...(options.respondsTo !== undefined && { responds_to_package_id: options.respondsTo }),
    ...options.metadata,
  }
  const { keyId, pair } = from.signing
  const signer = { key: pair.privateKey, keyId }
  const unsigned = { ...receiptFor(metadata), ...options.receipt }
  const receipt = { ...unsigned, signature: await signPolicyReceipt(unsigned, signer) }
  const envelope = await signEnvelope({ metadata, jwe }, { key: pair.privateKey, kid: keyId })
  if (!options.dsx) return { metadata, receipt, body: envelope }
  const manifest = {
    transport_mode: 'ds_x' as const,
    metadata,
    edc: {
      connector_id: options.dsx.connectorId,
      asset_id: `asset_${metadata.package_id}`,
      asset_digest: await sha256Digest(Buffer.from(JSON.stringify(envelope))),
      ...(options.dsx.transferProcessId !== undefined && {
        transfer_process_id: options.dsx.transferProcessId,
      }),
      ...(options.dsx.contractAgreementId !== undefined && {
        contract_agreement_id: options.dsx.contractAgreementId,
      }),
    },
  }
  return { metadata, receipt, body: { ...manifest, sender_signature: await signManifest(manifest, signer) } }
}

function receiptFor(metadata: PackageMetadata): Omit<PolicyReceipt, 'signature'> {
  return {
    policy_receipt_id: metadata.policy_receipt_id,
    receipt_version: '1.0',
    package_id: metadata.package_id,
    thread_id: metadata.thread_id,
    sender_org_id: metadata.sender_org_id,
    sender_agent_id: metadata.sender_agent_id,
    recipient_org_id: metadata.recipient_org_id,
    recipient_agent_id: metadata.recipient_agent_id,
    protocol_version: metadata.protocol_version,
    skill_id: metadata.skill_id,
    skill_version: metadata.skill_version,
    content_digest: metadata.content_digest,
    policy_id: 'pol_supply_alignment',
    policy_schema_version: '1.0.0',
    policy_digest: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
    checks: POLICY_CHECK_IDS.map((check_id) => ({ check_id, outcome: 'passed' })),
    human_approval: {
      required: true,
      outcome: 'approved',
      approval_reference: 'approval_4711',
      approved_at: metadata.created_at,
    },
    evaluated_at: metadata.created_at,
    statement: 'Evaluated by the sender before sealing.',
  }
}

/** Submits the policy receipt, then the package. */
export async function submit(
  from: Organization,
  draft: PackageDraft,
  options: RequestOptions = {},
): Promise<Answer> {
  const receipt = await from.post('/v1/policy-receipts', draft.receipt)
  if (receipt.status !== 201) return receipt
  return submitPackage(from, draft, options)
}

export function submitPackage(
  from: Organization,
  { metadata, body }: PackageDraft,
  options: RequestOptions = {},
): Promise<Answer> {
  const { responds_to_package_id: original } = metadata
  const path =
    original === undefined ? '/v1/packages' : `/v1/packages/${encodeURIComponent(original)}/responses`
  return from.post(path, body, options)
}

interface StatementOptions {
  readonly form?: 'bound' | 'plain'
  readonly change?: object
}

/** The body of a signed receipt. */
export function receiptBody(
  by: Organization,
  metadata: PackageMetadata,
  state: string,
  { form, change }: StatementOptions = {},
): Promise<object> {
  const body = {
    receipt_id: freshId('rcpt'),
    state,
    occurred_at: by.world.clock.now(),
    actor_agent_id: by.agentId,
    package_digest: metadata.content_digest,
    ...change,
  }
  return signed(by, metadata.package_id, body, form)
}

/** Drafts and submits a package; throws unless it is accepted. */
export async function sendPackage(
  from: Organization,
  to: Organization,
  options: DraftOptions = {},
): Promise<PackageDraft> {
  const draft = await draftPackage(from, to, options)
  const answer = await submit(from, draft)
  if (answer.status !== 202) throw new Error(answer.text)
  return draft
}

/** Sends a signed receipt of the recipient. */
export async function sendReceipt(
  by: Organization,
  metadata: PackageMetadata,
  state: string,
  options: RequestOptions & StatementOptions = {},
): Promise<Answer> {
  const body = await receiptBody(by, metadata, state, options)
  return by.post(`/v1/packages/${encodeURIComponent(metadata.package_id)}/receipts`, body, options)
}

/** The body of a signed revocation. */
export function revocationBody(
  by: Organization,
  metadata: PackageMetadata,
  { form, change }: StatementOptions = {},
): Promise<object> {
  const body = {
    requested_at: by.world.clock.now(),
    reason_code: 'superseded',
    reason_detail: 'A newer one follows.',
    ...change,
  }
  return signed(by, metadata.package_id, body, form)
}

export async function sendRevocation(
  by: Organization,
  metadata: PackageMetadata,
  options: RequestOptions & StatementOptions = {},
): Promise<Answer> {
  const body = await revocationBody(by, metadata, options)
  return by.post(`/v1/packages/${encodeURIComponent(metadata.package_id)}/revoke`, body, options)
}

async function signed(by: Organization, packageId: string, body: object, form: 'bound' | 'plain' = 'bound') {
  const key = { key: by.signing.pair.privateKey, keyId: by.signing.keyId }
  const signature =
    form === 'bound'
      ? await signPackageStatement(body, { ...key, packageId })
      : await signPolicyReceipt(body, key)
  return { ...body, signature }
}
