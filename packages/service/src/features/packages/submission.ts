import {
  canonicalize,
  CryptoError,
  matchContentDigest,
  readEnvelope,
  verifyEnvelope,
  verifyManifest,
  type ContentDigestRule,
  type Envelope,
  type ParsedEnvelope,
} from '@agent-exchange/crypto'
import {
  MEDIA_TYPE,
  nativePackageBody,
  packageMetadata,
  validatorOf,
  type DeploymentProfile,
  type DsxPackageBody,
  type EdcReferences,
  type PackageMetadata,
  type Signature,
} from '@agent-exchange/protocol'
import type { Database } from '@agent-exchange/database'
import { boundFailures } from '../../kernel/bounds.ts'
import type { Call } from '../../kernel/call.ts'
import { contentHash, envelopeHash } from '../../kernel/idempotency.ts'
import { assertJsonLimits } from '../../kernel/json-limits.ts'
import { Problem } from '../../kernel/problem.ts'
import { requireActingAs } from '../../kernel/roles.ts'
import type { Cause } from '../audit/audit-event.ts'
import { publicKeyOf, verified } from '../keys/public-keys.ts'
import { signAcceptance, type AcceptanceStatement } from './acceptance-statement.ts'
import { partsLength, toParts, type ContentPart } from './content-parts.ts'

/** A submitted package: well-formed and signed by its sender, not yet decided on. */
export interface Submission extends Cause {
  /** The package in the path of a response. */
  readonly respondsTo: string | undefined
  readonly metadata: PackageMetadata
  /** In RFC 8785 form. */
  readonly metadataText: string
  readonly signingKeyId: string
  readonly content: NativeContent | DsxContent
  readonly contentHash: Uint8Array
  /** Valid only once the submission is committed. */
  readonly acceptance: AcceptanceStatement
}

interface NativeContent {
  readonly transport: 'native'
  /** The body as submitted. */
  readonly parts: readonly ContentPart[]
  /** Their size in the database (O-13). */
  readonly bytes: number
  readonly digestRule: ContentDigestRule
  readonly recipientKeyIds: readonly [string, string]
}

interface DsxContent {
  readonly transport: 'ds_x'
  readonly edc: EdcReferences
  readonly senderSignature: Signature
}

type PackageCall = Call<'createPackageTransfer'> | Call<'createPackageResponse'>

/** PKG-01 to PKG-03, in the order of the specification. It writes nothing; key status is checked in the transaction. */
export async function readSubmission(call: PackageCall, db: Database): Promise<Submission> {
  const respondsTo = 'package_id' in call.params ? call.params.package_id : undefined
  const read =
    'transport_mode' in call.body
      ? await readManifest(call.body, call, db, respondsTo !== undefined)
      : await readNative(call, db, respondsTo !== undefined)
  const { caller, correlationId, idempotencyKey, now, context, span } = call
  const { metadata, signingKeyId } = read
  const metadataText = canonicalize(metadata)
  return {
    caller,
    correlationId,
    idempotencyKey,
    now,
    context,
    span,
    ...read,
    metadataText,
    respondsTo,
    acceptance: await signAcceptance(metadata, { metadataText, signingKeyId }, call),
  }
}

async function readNative(call: PackageCall, db: Database, isResponse: boolean) {
  const { profile } = call.context
  const body = call.body as Envelope
  const envelope = structureOf(body, () =>
    // The body has already passed the strict JSON parser.
    readEnvelope(
      { ...body },
      {
        maxDepth: profile['O-14'].json_depth,
        curves: profile['O-28'].encryption_curves,
        contentTypes: contentTypes(profile, isResponse),
        inspect: (json, at) =>
          assertJsonLimits(json, profile, at === 'protected' ? '/protected' : '/payload'),
      },
    ),
  )
  const metadata = readMetadata(envelope, call, isResponse)
  const key = await publicKeyOf(db, metadata.sender_org_id, {
    agentId: metadata.sender_agent_id,
    keyId: envelope.kid,
  })
  await verified(verifyEnvelope(envelope, key))
  const digestRule = await matchContentDigest(
    envelope,
    metadata.content_digest,
    profile['O-17'].content_digest_rules,
  )
  if (!digestRule) throw new Problem('digest_mismatch', { member: 'content_digest' })
  const [first, second] = envelope.jwe.recipients
  const parts = toParts(call.text, envelope.text.payload.length, envelope.payload)
  const content: NativeContent = {
    transport: 'native',
    parts,
    bytes: partsLength(parts),
    digestRule,
    recipientKeyIds: [first.header.kid, second.header.kid],
  }
  const hash = envelopeHash(call.params, envelope)
  return { metadata, signingKeyId: envelope.kid, content, contentHash: hash }
}

async function readManifest(body: DsxPackageBody, call: PackageCall, db: Database, isResponse: boolean) {
  const { metadata, edc, sender_signature: senderSignature } = body
  requireContentType(metadata, '/metadata', contentTypes(call.context.profile, isResponse))
  requireActingAs(call.caller, metadata.sender_org_id, metadata.sender_agent_id)
  const name = { agentId: metadata.sender_agent_id, keyId: senderSignature.key_id }
  await verified(verifyManifest(body, await publicKeyOf(db, metadata.sender_org_id, name)))
  const content: DsxContent = { transport: 'ds_x', edc, senderSignature }
  return { metadata, signingKeyId: senderSignature.key_id, content, contentHash: contentHash(call) }
}

/** The limits of O-14 apply to the payload too: the schema of the body saw only base64url. */
function readMetadata(envelope: ParsedEnvelope, call: PackageCall, isResponse: boolean): PackageMetadata {
  const validate = validatorOf(packageMetadata)
  const { metadata, kid, jwe } = envelope
  const { profile } = call.context
  const place = '/payload/metadata'
  if (!validate.accepts(metadata)) {
    const failures = validate(metadata).map((failure) => ({
      ...failure,
      pointer: `${place}${failure.pointer}`,
    }))
    throw new Problem('validation_failed', { failures })
  }
  const failures = [
    ...boundFailures({ ...metadata }, profile, place),
    ...boundFailures(kid, profile, '/protected/kid'),
    ...jwe.recipients.flatMap(({ header }, index) =>
      boundFailures(header.kid, profile, `/payload/jwe/recipients/${index}/header/kid`),
    ),
  ]
  if (failures.length > 0) throw new Problem('validation_failed', { failures })
  requireNative(metadata, place)
  requireContentType(metadata, place, contentTypes(profile, isResponse))
  requireActingAs(call.caller, metadata.sender_org_id, metadata.sender_agent_id)
  return metadata
}

/** An envelope is the native form; the schema of a manifest requires ds_x in the same way. */
function requireNative({ transport_mode }: PackageMetadata, place: string): void {
  if (transport_mode === 'native') return
  const message = 'Use exactly "native", or submit a ds_x manifest: an envelope is sent in native mode.'
  const failures = [{ pointer: `${place}/transport_mode`, rule: 'PKG-01', message }]
  throw new Problem('validation_failed', { failures })
}

/** O-35: accepted values of `cty` in the sealed content, and of `content_type`. */
function contentTypes(profile: DeploymentProfile, isResponse: boolean): readonly string[] {
  return isResponse ? profile['O-35'].content_types : [MEDIA_TYPE.reasoningPackage]
}

function requireContentType(
  { content_type }: PackageMetadata,
  place: string,
  accepted: readonly string[],
): void {
  if (accepted.includes(content_type)) return
  const message = `Use one of ${accepted.map((type) => `"${type}"`).join(', ')}.`
  const failures = [{ pointer: `${place}/content_type`, rule: 'O-35', message }]
  throw new Problem('validation_failed', { failures })
}

/** A body that also breaks its schema gets the schema's failures: they are more precise. */
function structureOf(body: Envelope, parse: () => ParsedEnvelope): ParsedEnvelope {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    const failures = validatorOf(nativePackageBody)(body)
    if (failures.length > 0) throw new Problem('validation_failed', { failures }, { cause: error })
    throw new Problem('envelope_invalid', { reason: error.code }, { cause: error })
  }
}
