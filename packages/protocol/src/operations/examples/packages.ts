import { exampleObjects } from '../../objects/examples.ts'
import type {
  DsxPackageBody,
  NativePackageBody,
  PackageMetadata,
  PackageReceiptRequest,
  PackageResource,
  PackageRevocationRequest,
  PackageRevocationResource,
  ReceiptResource,
} from '../../resources/packages.ts'
import type { ThreadResource } from '../../resources/threads.ts'
import { PROTOCOL_VERSION } from '../../wire.ts'
import { nativeBody } from './envelope.ts'
import {
  CONTENT_TYPE,
  DIGEST,
  EXAMPLE_EXCHANGE,
  KEY,
  MANUFACTURER,
  PACKAGE,
  RESPONSE,
  ROUTE,
  signedBy,
  SUPPLIER,
  THREAD,
  TIME,
} from './story.ts'

export const metadata: PackageMetadata = {
  ...ROUTE,
  schema_version: exampleObjects.reasoning_package.schema_version,
  created_at: TIME.created,
  expires_at: TIME.expires,
  content_type: CONTENT_TYPE,
  transport_mode: 'native',
}

/** From the manufacturer back to the supplier, in the same thread. */
const answerMetadata: PackageMetadata = {
  ...metadata,
  package_id: RESPONSE,
  sender_org_id: MANUFACTURER.organization_id,
  sender_agent_id: MANUFACTURER.agent_id,
  recipient_org_id: SUPPLIER.organization_id,
  recipient_agent_id: SUPPLIER.agent_id,
  created_at: TIME.answered,
  content_digest: DIGEST.answer,
  policy_receipt_id: 'policyreceipt_seat_rails_2',
  responds_to_package_id: PACKAGE,
}

const [fromSupplier, fromManufacturer] = [
  { signing: KEY.supplierSigning, sealedTo: [KEY.supplierEncryption, KEY.manufacturerEncryption] },
  { signing: KEY.manufacturerSigning, sealedTo: [KEY.manufacturerEncryption, KEY.supplierEncryption] },
] as const

export const nativePackage: NativePackageBody = nativeBody(metadata, fromSupplier)
export const nativeResponse: NativePackageBody = nativeBody(answerMetadata, fromManufacturer)

const manifest = (of: PackageMetadata, keyId: string, connector_id: string): DsxPackageBody => ({
  transport_mode: 'ds_x',
  metadata: { ...of, transport_mode: 'ds_x' },
  edc: { connector_id, asset_id: `asset_${of.package_id}`, asset_digest: DIGEST.asset },
  sender_signature: signedBy(keyId),
})

export const dsxPackage = manifest(metadata, KEY.supplierSigning, 'connector-seats')
export const dsxResponse = manifest(answerMetadata, KEY.manufacturerSigning, 'connector-carmaker')

const resourceOf = (of: PackageMetadata, accepted: string): PackageResource => ({
  package_id: of.package_id,
  thread_id: of.thread_id,
  transport_mode: of.transport_mode,
  state: 'accepted',
  created_at: accepted,
  updated_at: accepted,
  metadata: of,
  ciphertext_download_url: `${EXAMPLE_EXCHANGE}/content/packages/${of.package_id}`,
})

export const acceptedPackage = resourceOf(metadata, TIME.accepted)
export const receivedPackage: PackageResource = {
  ...acceptedPackage,
  state: 'received',
  updated_at: TIME.receiptRecorded,
}
export const acceptedResponse = resourceOf(answerMetadata, '2026-03-03T10:15:00.208Z')

export const receipt: PackageReceiptRequest = {
  receipt_id: 'rcpt_seat_rails_received',
  state: 'received',
  occurred_at: TIME.received,
  actor_agent_id: MANUFACTURER.agent_id,
  package_digest: DIGEST.content,
  signature: signedBy(KEY.manufacturerSigning),
}
export const recordedReceipt: ReceiptResource = {
  ...receipt,
  package_id: PACKAGE,
  accepted_at: TIME.receiptRecorded,
}

export const revocation: PackageRevocationRequest = {
  requested_at: TIME.revoked,
  reason_code: 'superseded',
  reason_detail: 'A corrected package follows in the same thread.',
  signature: signedBy(KEY.supplierSigning),
}
export const revokedPackage: PackageRevocationResource = {
  package_id: PACKAGE,
  state: 'revoked',
  revoked_at: '2026-03-02T08:30:00.190Z',
  outcome: 'access_blocked',
  future_access_blocked: true,
  audit_event_id: 'audit_seat_rails_revoked',
}

export const thread: ThreadResource = {
  thread_id: THREAD,
  protocol_version: PROTOCOL_VERSION,
  transport_mode: 'native',
  participants: [MANUFACTURER.organization_id, SUPPLIER.organization_id],
  packages: [
    { ...receivedPackage, state: 'responded' },
    { ...acceptedResponse, state: 'encrypted_available' },
  ],
  state: 'active',
  next_cursor: null,
  has_more: false,
}
