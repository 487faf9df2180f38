import { canonicalize, matchContentDigest, parseEnvelope, verifyEnvelope } from '@agent-exchange/crypto'
import {
  isEarlier,
  MEDIA_TYPE,
  type EvidenceEntry,
  type PackageEvidence,
  type ThreadEvidence,
} from '@agent-exchange/protocol'
import { MAXIMUM_DEPTH } from '../exchange/limits.ts'
import { differingMembers } from '../exchange/package-metadata.ts'
import { judgeKey } from './key-ring.ts'
import {
  isSigned,
  report,
  verifyAcceptance,
  verifyManifestOf,
  verifyReceiptOfPolicy,
  verifyReceipts,
  verifyRevocation,
  type PackageCase,
} from './verify-statements.ts'

/** Everything that one package's evidence claims. */
export async function verifyPackageEvidence(
  subject: PackageCase,
  thread: ThreadEvidence,
  content: Uint8Array | undefined,
): Promise<void> {
  verifyNames(subject, thread)
  verifyPlaceInChain(subject, thread.entries)
  verifyAnswer(subject, thread.entries)
  await verifyAcceptance(subject)
  await verifyReceiptOfPolicy(subject)
  await verifyManifestOf(subject)
  await verifyReceipts(subject)
  await verifyRevocation(subject)
  verifyState(subject)
  verifyFlags(subject)
  await verifyContent(subject, content)
}

/** What is said twice is said alike. */
function verifyNames({ evidence, findings }: PackageCase, thread: ThreadEvidence): void {
  const { package_id: packageId, thread_id, package: resource, receipts } = evidence
  const { metadata } = resource
  const differing = [
    ...([resource.package_id, metadata.package_id].every((id) => id === packageId) ? [] : ['package_id']),
    ...([thread_id, resource.thread_id, metadata.thread_id].every((id) => id === thread.thread_id)
      ? []
      : ['thread_id']),
    ...(resource.transport_mode === metadata.transport_mode ? [] : ['transport_mode']),
    ...(receipts.every(({ package_id }) => package_id === packageId) ? [] : ['receipts']),
  ]
  findings.check(
    'the evidence is about one package',
    differing.length === 0,
    differing.join(', ') || packageId,
    {
      packageId,
    },
  )
}

/** PKG-09: that a package answers another one was recorded there. */
function verifyAnswer({ evidence, findings }: PackageCase, chain: readonly EvidenceEntry[]): void {
  const { package_id: packageId, package: resource } = evidence
  const { responds_to_package_id: original } = resource.metadata
  const answered = chain.find(
    ({ proof }) =>
      proof.kind === 'response_accepted' && Reflect.get(proof, 'response_package_id') === packageId,
  )
  if (original === undefined && !answered) return
  // Without an audit event (O-26) the chain does not say which package it was.
  const target = answered?.event?.target.object_id ?? (answered ? original : undefined)
  findings.check('the chain says what it answers', target === original, original ?? 'nothing', { packageId })
}

/** The entries of a package are those of its thread, not a story of their own. */
function verifyPlaceInChain({ evidence, findings }: PackageCase, chain: readonly EvidenceEntry[]): void {
  const { package_id: packageId, entries } = evidence
  const byPosition = new Map(chain.map((entry) => [entry.position, canonicalize(entry)]))
  const foreign = entries.filter((entry) => byPosition.get(entry.position) !== canonicalize(entry))
  const isPart = entries.length > 0 && foreign.length === 0
  const detail = isPart
    ? `${entries.length} entries`
    : `position ${foreign.map((e) => e.position).join(', ')}`
  findings.check('the entries are part of the chain', isPart, detail, { packageId })
}

/** The last move that was recorded is the state that is shown. */
function verifyState({ evidence, findings, profile }: PackageCase): void {
  const { package_id: packageId, package: resource, entries } = evidence
  const moves = entries.flatMap(({ proof }): string[] => {
    const { state, states } = proof as { state?: string; states?: string[] }
    if (proof.kind === 'response_accepted') return profile['O-03'].response_accepted ? ['responded'] : []
    return [...(states ?? []), ...(state === undefined ? [] : [state])]
  })
  const last = moves.at(-1)
  findings.check('the state follows from the chain', last === resource.state, resource.state, {
    packageId,
  })
}

/** ID-05: a key that signed here after its invalid_from is flagged, and no other is. */
function verifyFlags({ evidence, findings }: PackageCase): void {
  const { package_id: packageId, key_history: history } = evidence
  const uses = usesOf(evidence)
  const wrong = history.filter(({ agent_id, key, accepted_after_invalid_from: flag }) => {
    const own = uses.filter(({ agentId, keyId }) => agentId === agent_id && keyId === key.key_id)
    if (own.length === 0 || key.invalid_from === undefined) return flag === true
    const late = own.some(({ acceptedAt }) => isEarlier(acceptedAt, key.invalid_from) === false)
    return (flag ?? false) !== late
  })
  const detail = wrong.length === 0 ? `${history.length} keys` : wrong.map(({ key }) => key.key_id).join(', ')
  findings.check('keys that signed too late are flagged', wrong.length === 0, detail, { packageId })
}

function usesOf({ package: resource, policy_receipt, receipts, entries }: PackageEvidence) {
  const { metadata, created_at, sender_signature } = resource
  const sender = metadata.sender_agent_id
  const acceptedKeys = entries.flatMap(({ proof }) => {
    const { signing_key_id: keyId } = proof as { signing_key_id?: string }
    return keyId === undefined ? [] : [{ agentId: sender, keyId, acceptedAt: created_at }]
  })
  const revocations = entries
    .filter(({ proof }) => proof.kind === 'package_revoked')
    .map(({ proof }) => {
      const { signature } = proof as { signature?: { key_id?: string } }
      return { agentId: sender, keyId: signature?.key_id ?? '', acceptedAt: proof.recorded_at }
    })
  return [
    ...acceptedKeys,
    ...revocations,
    ...(sender_signature
      ? [{ agentId: sender, keyId: sender_signature.key_id, acceptedAt: created_at }]
      : []),
    {
      agentId: sender,
      keyId: policy_receipt.receipt.signature.key_id,
      acceptedAt: policy_receipt.accepted_at,
    },
    ...receipts.map(({ actor_agent_id: agentId, signature, accepted_at: acceptedAt }) => ({
      agentId,
      keyId: signature.key_id,
      acceptedAt,
    })),
  ]
}

/** Evidence holds no content; whoever kept the envelope can have it held against the rest. */
async function verifyContent(subject: PackageCase, content: Uint8Array | undefined): Promise<void> {
  const { evidence, ring, findings, profile } = subject
  const { package_id: packageId, package: resource } = evidence
  const { metadata, created_at: acceptedAt } = resource
  if (!content)
    return findings.unverifiable(
      'the signature of the sender over the content, and over created_at, expires_at, content_type and schema_version',
      'Evidence holds metadata only. Give the envelope as it was downloaded.',
      packageId,
    )
  const what = 'the sender signed the content'
  const fits = await isSigned(async () => {
    const contentTypes = [MEDIA_TYPE.reasoningPackage, ...profile['O-35'].content_types]
    const envelope = parseEnvelope(content, { contentTypes, maxDepth: MAXIMUM_DEPTH })
    const key = ring.find(metadata.sender_agent_id, envelope.kid)
    const members = differingMembers(metadata, envelope.metadata as object)
    const rule = await matchContentDigest(envelope, metadata.content_digest)
    if (!key || rule === undefined || members.length > 0)
      return findings.check(what, false, members.join(', ') || 'the digest or the key differs', { packageId })
    const holds = await isSigned(() => verifyEnvelope(envelope, key.publicKey))
    const times = { claimedAt: metadata.created_at, acceptedAt }
    report(findings, what, holds, judgeKey(key, times), packageId)
  })
  if (!fits) findings.check(what, false, 'it is not an envelope of the protocol', { packageId })
}
