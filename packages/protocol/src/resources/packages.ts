import { Type, type Static } from 'typebox'
import { inUse, ours, proves } from '../schema/annotations.ts'
import { define } from '../schema/define.ts'
import { packageState } from '../schema/package-state.ts'
import {
  agentId,
  digest,
  organizationId,
  resourceId,
  schemaVersion,
  signature,
  threadId,
  timestamp,
  transportMode,
} from '../schema/shared.ts'
import { base64url, base64urlOf, name, request, resource, text, uri } from './forms.ts'
import { sealedPackage } from './sealed-package.ts'
import { MEDIA_TYPE } from '../wire.ts'

/** Readable routing data. It names the policy receipt and says nothing about the content. */
export const packageMetadata = define(
  'PackageMetadata',
  request({
    package_id: resourceId,
    thread_id: threadId,
    sender_org_id: organizationId,
    sender_agent_id: agentId,
    recipient_org_id: organizationId,
    recipient_agent_id: agentId,
    // Any version: the supported versions of the recipient decide (PKG-06).
    protocol_version: text,
    schema_version: schemaVersion,
    skill_id: text,
    skill_version: text,
    created_at: timestamp,
    expires_at: timestamp,
    content_type: Type.String({ ...ours('O-35'), ...inUse('application/svc.reasoning-package+json') }),
    content_digest: digest,
    transport_mode: transportMode,
    policy_receipt_id: resourceId,
    responds_to_package_id: Type.Optional(resourceId),
  }),
)

/** The decoded payload of a native package. */
export const exchangeEnvelope = define(
  'ExchangeEnvelope',
  request({ metadata: packageMetadata, jwe: sealedPackage }, proves('PKG-01')),
)

/** A Flattened JWS (RFC 7515 section 7.2.2). Its payload is validated after its form. */
export const nativePackageBody = define(
  'NativePackageBody',
  request(
    {
      protected: base64url('the JWS protected header: alg, cty, kid, syv, typ', {
        contentMediaType: MEDIA_TYPE.json,
      }),
      payload: base64url('the exchange envelope: metadata and jwe', {
        contentMediaType: MEDIA_TYPE.exchangeEnvelope,
        contentSchema: exchangeEnvelope,
      }),
      signature: base64urlOf(64, 'the 64 bytes r||s of the ES256 signature in base64url'),
    },
    proves({ default: 'PKG-01', additionalProperties: 'PKG-01' }),
  ),
)

export const edcReferences = define(
  'EdcReferences',
  request({
    connector_id: name,
    asset_id: name,
    asset_digest: digest,
    contract_agreement_id: Type.Optional(name),
    transfer_process_id: Type.Optional(name),
  }),
)

/** The metadata of a manifest must name its own transport mode. */
const dsxMetadata = Type.Unsafe<Static<typeof packageMetadata>>({
  allOf: [packageMetadata, { type: 'object', properties: { transport_mode: { const: 'ds_x' } } }],
  ...proves('PKG-03'),
})

/** The control manifest of a connector transfer: references and integrity, no payload. */
export const dsxPackageBody = define(
  'DsxPackageBody',
  request(
    {
      transport_mode: Type.Literal('ds_x'),
      metadata: dsxMetadata,
      edc: edcReferences,
      sender_signature: signature,
    },
    proves({ default: 'PKG-03', additionalProperties: 'PKG-03' }),
  ),
)

export const packageBody = define('PackageBody', Type.Union([nativePackageBody, dsxPackageBody]))

export const packageResource = define(
  'PackageResource',
  resource({
    package_id: resourceId,
    thread_id: threadId,
    transport_mode: transportMode,
    state: packageState,
    created_at: { ...timestamp, ...ours('O-43') },
    updated_at: { ...timestamp, ...ours('O-43') },
    metadata: packageMetadata,
    ciphertext_download_url: Type.Optional(uri),
    edc: Type.Optional({ ...edcReferences, ...ours('O-24') }),
    sender_signature: Type.Optional({ ...signature, ...ours('O-24') }),
  }),
)

export const RECEIPT_STATES = ['received', 'opened', 'rejected', 'failed'] as const

const receiptFields = {
  receipt_id: resourceId,
  state: Type.Enum([...RECEIPT_STATES]),
  occurred_at: { ...timestamp, ...ours('O-49') },
  actor_agent_id: agentId,
  package_digest: { ...digest, ...ours('O-23') },
  signature: { ...signature, ...ours('O-22') },
}

export const packageReceiptRequest = define(
  'PackageReceiptRequest',
  request(receiptFields, proves({ default: 'PKG-08', additionalProperties: 'O-29' })),
)

export const receiptResource = define(
  'ReceiptResource',
  resource({ ...receiptFields, package_id: resourceId, accepted_at: timestamp }),
)

export const packageRevocationRequest = define(
  'PackageRevocationRequest',
  request(
    {
      requested_at: timestamp,
      reason_code: text,
      reason_detail: text,
      signature: { ...signature, ...ours('O-22') },
    },
    proves({ default: 'PKG-10', additionalProperties: 'O-29' }),
  ),
)

export const packageRevocationResource = define(
  'PackageRevocationResource',
  resource({
    package_id: resourceId,
    state: packageState,
    revoked_at: timestamp,
    outcome: Type.String({ ...ours('O-34'), ...inUse('access_blocked') }),
    future_access_blocked: Type.Boolean(),
    audit_event_id: text,
  }),
)

export type PackageMetadata = Static<typeof packageMetadata>
export type NativePackageBody = Static<typeof nativePackageBody>
export type EdcReferences = Static<typeof edcReferences>
export type DsxPackageBody = Static<typeof dsxPackageBody>
export type PackageResource = Static<typeof packageResource>
export type PackageReceiptRequest = Static<typeof packageReceiptRequest>
export type ReceiptResource = Static<typeof receiptResource>
export type ReceiptState = (typeof RECEIPT_STATES)[number]
export type PackageRevocationRequest = Static<typeof packageRevocationRequest>
export type PackageRevocationResource = Static<typeof packageRevocationResource>
