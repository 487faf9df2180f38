import { verifyDetached } from '@agent-exchange/crypto'
import { isEarlier, type EvidenceEntry, type PublicKey } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError, type ExchangeErrorCode } from '../errors.ts'
import type { PeerKey } from '../peers/peer-directory.ts'
import { readPages } from './pages.ts'

/** The platform's signed statement that it accepted a package (ours, O-07). */
export interface Acceptance {
  readonly package_id: string
  readonly thread_id: string
  readonly content_digest: string
  readonly signing_key_id: string
  readonly accepted_at: string
  readonly signature: { readonly key_id: string }
}

/** Errors that disprove the signed acceptance. */
const DISPROVING = new Set<ExchangeErrorCode>(['peer_unknown', 'peer_key_missing', 'peer_key_mismatch'])

export type KeyFault = 'not_yet_valid' | 'revoked'

/**
 * ID-05: whether the key was valid for this signature. A revoked or expired key also needs the time of acceptance:
 * the thief of a key can claim any signing time.
 */
export function keyFault(
  { valid_from, invalid_from, status }: Pick<PublicKey, 'valid_from' | 'invalid_from' | 'status'>,
  claimedAt: string,
  acceptedAt: string | undefined,
): KeyFault | undefined {
  if (isEarlier(claimedAt, valid_from) !== false) return 'not_yet_valid'
  if (invalid_from === undefined) return status === 'revoked' ? 'revoked' : undefined
  const inTime = isEarlier(claimedAt, invalid_from) === true && isEarlier(acceptedAt, invalid_from) === true
  return inTime ? undefined : 'revoked'
}

/** Reads the signed acceptance in the evidence of a package. */
function findAcceptance(entries: readonly EvidenceEntry[], packageId: string): Acceptance | undefined {
  return entries
    .map(({ proof }) => Reflect.get(proof, 'acceptance') as Acceptance | undefined)
    .find((acceptance) => acceptance?.package_id === packageId)
}

export interface SignedPackage {
  readonly packageId: string
  readonly contentDigest: string
  /** The key that the exchange verified: of the envelope in native mode, of the manifest in ds_x. */
  readonly acceptedKeyId: string
}

/** Time of acceptance, from the platform's signed statement. Read on demand, once. */
export function acceptanceReader(context: AgentContext, signed: SignedPackage): () => Promise<string> {
  let known: Promise<string> | undefined
  return () => (known ??= readAcceptance(context, signed))
}

async function readAcceptance(
  { connection, peers, profile }: AgentContext,
  { packageId, contentDigest, acceptedKeyId }: SignedPackage,
): Promise<string> {
  const acceptance = await readSignedAcceptance(connection, packageId)
  const fits = acceptance?.content_digest === contentDigest && acceptance.signing_key_id === acceptedKeyId
  if (!acceptance || !fits) throw new ExchangeError('peer_key_revoked', { details: { packageId } })
  try {
    const { publicKey } = await peers.signingKey(profile['O-42'].agent_id, acceptance.signature.key_id)
    await verifyDetached(acceptance, { member: 'signature', publicKey })
  } catch (cause) {
    // An unconfirmed key of the platform or a network failure proves nothing.
    if (cause instanceof ExchangeError && !DISPROVING.has(cause.code)) throw cause
    throw new ExchangeError('peer_key_revoked', { details: { packageId }, cause })
  }
  return acceptance.accepted_at
}

async function readSignedAcceptance(
  connection: AgentContext['connection'],
  packageId: string,
): Promise<Acceptance | undefined> {
  const path = { package_id: packageId }
  const pages = readPages((after) => connection.call('getPackageAuditEvidence', { path, query: { after } }))
  for await (const { entries } of pages) {
    const found = findAcceptance(entries, packageId)
    if (found) return found
  }
  return undefined
}

/** ID-05 for a key of the sender. Reads evidence only if the key was revoked. */
export async function requireKeyInTime(
  { entry, agentId, keyId }: PeerKey,
  claimedAt: string,
  acceptedAt: () => Promise<string>,
): Promise<void> {
  const needsEvidence = entry.invalid_from !== undefined
  const fault = keyFault(entry, claimedAt, needsEvidence ? await acceptedAt() : undefined)
  const details = { agentId, keyId }
  if (fault === 'revoked') throw new ExchangeError('peer_key_revoked', { details })
  if (fault === 'not_yet_valid')
    throw new ExchangeError('signature_invalid', { what: 'The key was not valid yet at that time.', details })
}
