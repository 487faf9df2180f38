import {
  canonicalize,
  decodeBase64url,
  encodeBase64url,
  type KeyPair,
  sealPackage,
  type SealedPackage,
  sha256Digest,
  signDetached,
  signEs256,
} from '@agent-exchange/crypto'
import type { Context } from '../run/context.ts'
import type { Answer } from '../wire/wire.ts'
import type { Agent, AgentKey } from './agent.ts'
import { digestRuleOf, statementFormOf } from './open-point-choices.ts'

type Members = Readonly<Record<string, unknown>>

/** Deviations from a valid package. Each is applied before what follows is computed, so only one rule breaks. */
export interface Deviation {
  readonly threadId?: string
  readonly respondsTo?: string
  readonly metadata?: Members
  readonly receipt?: Members
  /** What is sealed instead of a fixed statement. */
  readonly plaintext?: Uint8Array
  readonly aad?: Uint8Array
  readonly jwe?: (jwe: SealedPackage) => object
  readonly header?: Members
  /** Signs the envelope instead of the signing key of the sender. */
  readonly signedBy?: AgentKey
  readonly receiptSignedBy?: AgentKey
  /** Makes a manifest for this connector instead of an envelope. */
  readonly connectorId?: string
}

/** A package and its policy receipt, ready to be sent. */
export interface Draft {
  readonly packageId: string
  readonly threadId: string
  readonly metadata: Members
  readonly receipt: Members
  readonly body: Members
}

/** Occurs in every plaintext, so that a leak can be recognized. */
export const PLAINTEXT_MARK = 'conformance plaintext 7f3a'
const RECEIPT_LEAD_MS = 1_000
const EXPIRES_AFTER_MS = 3_600_000
const DIGEST_OF_NOTHING = 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:'
const encoder = new TextEncoder()
const encode = (value: object) => encodeBase64url(encoder.encode(canonicalize(value)))
const signer = ({ pair, keyId }: AgentKey) => ({ key: pair.privateKey, keyId })

/** What a draft takes from a run. */
export type Drafting = Pick<Context, 'now' | 'newId' | 'openPoints'>
/** What a draft has to know of its recipient: nothing private. */
export interface Addressee {
  readonly agentId: string
  readonly organization: { readonly organizationId: string }
  readonly encryption: { readonly keyId: string; readonly pair: Pick<KeyPair, 'publicKey'> }
}
export type Author = Addressee & Pick<Agent, 'signing'>

export async function draftPackage(
  context: Drafting,
  from: Author,
  to: Addressee,
  deviation: Deviation = {},
): Promise<Draft> {
  const jwe = await seal(from, to, deviation)
  const metadata = await metadataOf(context, { from, to, jwe, deviation })
  const receiptKey = deviation.receiptSignedBy ?? from.signing
  const unsigned = { ...receiptOf(metadata), ...deviation.receipt }
  const receipt = {
    ...unsigned,
    signature: await signDetached(unsigned, { ...signer(receiptKey), member: 'signature' }),
  }
  const envelope = await envelopeOf({ metadata, jwe }, deviation.signedBy ?? from.signing, deviation.header)
  const { connectorId } = deviation
  const body = connectorId === undefined ? envelope : await manifestOf(metadata, envelope, connectorId, from)
  return {
    packageId: String(metadata['package_id']),
    threadId: String(metadata['thread_id']),
    metadata,
    receipt,
    body,
  }
}

async function seal(
  from: Author,
  to: Addressee,
  { jwe: edit, aad, ...deviation }: Deviation,
): Promise<object> {
  const plaintext = deviation.plaintext ?? encoder.encode(JSON.stringify({ statement: PLAINTEXT_MARK }))
  const sealed = await sealPackage(plaintext, {
    sender: { kid: from.encryption.keyId, publicKey: from.encryption.pair.publicKey },
    recipient: { kid: to.encryption.keyId, publicKey: to.encryption.pair.publicKey },
    ...(aad && { aad }),
  })
  return edit?.(sealed) ?? sealed
}

interface Parts {
  readonly from: Author
  readonly to: Addressee
  readonly jwe: object
  readonly deviation: Deviation
}

async function metadataOf(context: Drafting, { from, to, jwe, deviation }: Parts): Promise<Members> {
  const now = context.now()
  const { respondsTo } = deviation
  return {
    package_id: context.newId(respondsTo === undefined ? 'pkg' : 'resp'),
    thread_id: deviation.threadId ?? context.newId('thread'),
    sender_org_id: from.organization.organizationId,
    sender_agent_id: from.agentId,
    recipient_org_id: to.organization.organizationId,
    recipient_agent_id: to.agentId,
    protocol_version: 'svc/1.0',
    schema_version: '1.0.0',
    skill_id: 'skill_conformance',
    skill_version: '1.0.0',
    created_at: now,
    expires_at: new Date(Date.parse(now) + EXPIRES_AFTER_MS).toISOString(),
    content_type: 'application/svc.reasoning-package+json',
    content_digest: await contentDigest(context, jwe),
    transport_mode: deviation.connectorId === undefined ? 'native' : 'ds_x',
    policy_receipt_id: context.newId('receipt'),
    ...(respondsTo !== undefined && { responds_to_package_id: respondsTo }),
    ...deviation.metadata,
  }
}

async function contentDigest({ openPoints }: Drafting, jwe: object): Promise<string> {
  const bytes =
    digestRuleOf(openPoints) === 'ciphertext-bytes'
      ? decodeBase64url((jwe as SealedPackage).ciphertext)
      : encoder.encode(canonicalize(jwe))
  return sha256Digest(bytes)
}

/** The members that a receipt repeats. */
const BOUND = [
  'policy_receipt_id',
  'package_id',
  'thread_id',
  'sender_org_id',
  'sender_agent_id',
  'recipient_org_id',
  'recipient_agent_id',
  'protocol_version',
  'skill_id',
  'skill_version',
  'content_digest',
]

function receiptOf(metadata: Members): Members {
  // It predates the creation of its package. Whether the same instant would do is an open point (O-49).
  const time = new Date(Date.parse(String(metadata['created_at'])) - RECEIPT_LEAD_MS).toISOString()
  return {
    ...Object.fromEntries(BOUND.map((name) => [name, metadata[name]])),
    receipt_version: '1.0',
    policy_id: 'pol_conformance',
    policy_schema_version: '1.0.0',
    policy_digest: DIGEST_OF_NOTHING,
    checks: CHECK_IDS.map((check_id) => ({ check_id, outcome: 'passed' })),
    human_approval: {
      required: true,
      outcome: 'approved',
      approval_reference: 'approval_conformance',
      approved_at: time,
    },
    evaluated_at: time,
    statement: 'Evaluated before sealing.',
  }
}

export const CHECK_IDS = [
  'object_schema',
  'skill_profile',
  'prohibited_disclosure',
  'recipient_authorization',
  'retention_and_forwarding',
]

/** RFC 7515 section 7.2.2, with the header of the protocol. */
export async function envelopeOf(payload: object, key: AgentKey, change: Members = {}): Promise<Members> {
  const header = encode({
    alg: 'ES256',
    kid: key.keyId,
    typ: 'application/svc+jws',
    cty: 'application/svc.exchange-envelope+json',
    syv: 'svc/1.0',
    ...change,
  })
  const text = encode(payload)
  const signature = await signEs256(key.pair.privateKey, encoder.encode(`${header}.${text}`))
  return { protected: header, payload: text, signature: encodeBase64url(signature) }
}

async function manifestOf(metadata: Members, envelope: Members, connectorId: string, from: Author) {
  const manifest = {
    transport_mode: 'ds_x',
    metadata,
    edc: {
      connector_id: connectorId,
      asset_id: `asset_${String(metadata['package_id'])}`,
      asset_digest: await sha256Digest(encoder.encode(JSON.stringify(envelope))),
    },
  }
  const signed = { ...signer(from.signing), member: 'sender_signature' as const }
  return { ...manifest, sender_signature: await signDetached(manifest, signed) }
}

/** Sends the receipt, then the package or response; returns the first refusal or the last answer. */
export async function send(from: Agent, draft: Draft): Promise<Answer> {
  const receipt = await from.organization.call('POST', '/v1/policy-receipts', draft.receipt)
  return receipt.status === 201 ? sendPackage(from, draft) : receipt
}

export function sendPackage(from: Agent, { metadata, body }: Draft): Promise<Answer> {
  const original = metadata['responds_to_package_id']
  const path =
    typeof original === 'string' ? `/v1/packages/${encodeURIComponent(original)}/responses` : '/v1/packages'
  return from.organization.call('POST', path, body)
}

/** The body of a statement about a package, signed in the form that the deployment accepts. */
async function statementOf(
  { openPoints }: Context,
  { signing }: Agent,
  packageId: string,
  statement: object,
): Promise<Members> {
  const isPlain = statementFormOf(openPoints) === 'plain'
  const signed = isPlain ? statement : { ...statement, package_id: packageId }
  return { ...statement, signature: await signDetached(signed, { ...signer(signing), member: 'signature' }) }
}

export function receiptStatement(
  context: Context,
  by: Agent,
  draft: Draft,
  state: string,
  change: object = {},
) {
  return statementOf(context, by, draft.packageId, {
    receipt_id: context.newId('rcpt'),
    state,
    occurred_at: context.now(),
    actor_agent_id: by.agentId,
    package_digest: draft.metadata['content_digest'],
    ...change,
  })
}

export function revocationStatement(context: Context, by: Agent, packageId: string, reason = 'superseded') {
  return statementOf(context, by, packageId, {
    requested_at: context.now(),
    reason_code: reason,
    reason_detail: 'A newer package follows.',
  })
}
