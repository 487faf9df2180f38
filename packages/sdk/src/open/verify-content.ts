import {
  checkAdditionalData,
  CryptoError,
  matchContentDigest,
  parseEnvelope,
  parseStrictJson,
  verifyEnvelope,
  type OpenedPackage,
  type ParsedEnvelope,
} from '@agent-exchange/crypto'
import { differingMembers } from '@agent-exchange/log'
import {
  MEDIA_TYPE,
  validateObject,
  type PackageMetadata,
  type PackageResource,
  type ProtocolObject,
} from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError, type ExchangeErrorCode } from '../errors.ts'
import type { PeerKey } from '../peers/peer-directory.ts'
import type { Arrival } from './arrival.ts'
import { signatureFailure } from './explain-signature.ts'
import { requireKeyInTime } from './key-validity.ts'
import { MAXIMUM_DEPTH } from '../objects/content-limits.ts'
import { unseal } from '../agent-keys/unseal.ts'

/** Parses the envelope and compares its metadata with those of the exchange. */
export function readEnvelope(
  { deployment: { profile } }: AgentContext,
  bytes: Uint8Array,
  { metadata }: PackageResource,
): ParsedEnvelope {
  const isResponse = metadata.responds_to_package_id !== undefined
  const envelope = inCode('signature_invalid', 'The content is not an envelope of the protocol.', () =>
    parseEnvelope(bytes, {
      maxDepth: Math.max(MAXIMUM_DEPTH, profile['O-14'].json_depth),
      curves: profile['O-28'].encryption_curves,
      contentTypes: isResponse ? profile['O-35'].content_types : [MEDIA_TYPE.reasoningPackage],
    }),
  )
  const members = differingMembers(asObject(envelope.metadata), metadata)
  if (members.length > 0)
    throw new ExchangeError('content_mismatch', {
      what: 'The metadata in the envelope are not those that the exchange shows.',
      details: { members: members.map((member) => `metadata.${member}`) },
    })
  return envelope
}

/** ID-05: the key of the envelope belongs to the sender and was valid at that time. */
export async function requireSenderKey(
  { peers }: AgentContext,
  keyId: string,
  metadata: PackageMetadata,
  arrival: Arrival,
): Promise<PeerKey> {
  const key = await peers.signingKey(metadata.sender_agent_id, keyId)
  if (key.organizationId !== metadata.sender_org_id)
    throw new ExchangeError('content_mismatch', {
      what: 'The directory shows the sender under another organization.',
      details: { members: ['metadata.sender_org_id'] },
    })
  await requireKeyInTime(key, metadata.created_at, arrival)
  return key
}

/** O-17: the digest by one of the rules, then the signature of the envelope. */
export async function requireIntegrity(
  context: AgentContext,
  envelope: ParsedEnvelope,
  { metadata }: PackageResource,
  key: PeerKey,
): Promise<void> {
  const rules = context.deployment.profile['O-17'].content_digest_rules
  if ((await matchContentDigest(envelope, metadata.content_digest, rules)) === undefined)
    throw new ExchangeError('digest_mismatch', { details: { member: 'content_digest' } })
  await verifyEnvelope(envelope, key.publicKey).catch(async (cause: unknown) => {
    throw await signatureFailure(context, {
      what: 'The envelope is not what the sender signed.',
      subject: { kind: 'envelope', envelope },
      key,
      cause,
    })
  })
}

export interface OpenedContent {
  readonly object: ProtocolObject
  /** The newest checkpoint of the log that the sender had verified; other implementations write none. */
  readonly checkpoint?: string
}

/** Decrypts content that a party of the exchange sealed for this agent. */
export function unsealEnvelope(context: AgentContext, { jwe }: ParsedEnvelope): Promise<OpenedPackage> {
  const { content_types: further } = context.deployment.profile['O-35']
  return unseal(context, jwe, [MEDIA_TYPE.reasoningPackage, ...further])
}

/** Decrypts and validates the object. */
export async function openContent(
  context: AgentContext,
  envelope: ParsedEnvelope,
  metadata: PackageMetadata,
): Promise<OpenedContent> {
  const opened = await unsealEnvelope(context, envelope)
  const checkpoint = requireBoundData(opened, metadata)
  const value = inCode(
    'object_invalid',
    'What is inside is not JSON that two readers understand alike.',
    () => parseStrictJson(opened.plaintext, { maxDepth: MAXIMUM_DEPTH }),
  )
  const result = validateObject(value, context.deployment.profile)
  if (!result.valid) throw new ExchangeError('object_invalid', { failures: result.failures })
  return { object: result.object, ...(checkpoint !== undefined && { checkpoint }) }
}

/**
 * O-17: ours bind the metadata and the content key. Those of other implementations are opaque and refuse nothing.
 * Returns the sender's checkpoint of the log.
 */
function requireBoundData(opened: OpenedPackage, metadata: PackageMetadata): string | undefined {
  const { keyCommitment, differingMetadata, checkpoint } = checkAdditionalData(opened, metadata)
  const isOtherKey = keyCommitment === 'differs'
  const members = [...differingMetadata, ...(isOtherKey ? ['key_commitment'] : [])]
  if (members.length > 0)
    throw new ExchangeError('content_mismatch', {
      what: isOtherKey
        ? 'The content opens under another key than the one that the sender committed to.'
        : 'The content was sealed for other metadata.',
      details: { members: members.map((member) => `aad.${member}`) },
    })
  return checkpoint
}

function inCode<T>(code: ExchangeErrorCode, what: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof CryptoError) throw new ExchangeError(code, { what, cause })
    throw cause
  }
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}
