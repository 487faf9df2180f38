import type { EntryCase, EntryVerdict } from './entry-case.ts'
import { bodyOf, refuse, verifyStatementEntry } from './verify-statement-entry.ts'

const MEMBERS = ['requested_at', 'reason_code', 'reason_detail', 'signature']
/** Keys of one id and organization that are tried: more than one is already unusual. */
const MAXIMUM_TRIED_KEYS = 16

/** PKG-10: the sending agent, or another one of its organization (O-46), withdrew the package. */
export async function verifyRevocationEntry(subject: EntryCase): Promise<EntryVerdict> {
  const { metadata, checks, packageId, entry } = subject
  const signed = await verifySignature(subject)
  if (!signed) return { isSigned: false, claim: 'unsigned_revocation', leadsTo: [] }
  const { agentId, organizationId } = signed.key.signer
  const about = { package_id: packageId, position: entry.value.position }
  if (agentId !== metadata.sender_agent_id)
    checks.claim('membership', { agent_id: agentId, organization_id: organizationId }, about)
  // The body names no package, so the plain form (O-22) fits any.
  if (signed.form === 'plain') checks.claim('revoked_package', packageId, about)
  return { isSigned: true, claim: 'recording', facts: { actor: signed.key.signer }, leadsTo: ['revoked'] }
}

async function verifySignature(subject: EntryCase) {
  const { entry, metadata, ring } = subject
  if (!entry.has('proof/signature')) return refuse(subject, 'revocation_signature', { fault: 'no_signature' })
  const keyId = entry.textAt('proof/signature/key_id') ?? ''
  const own = ring.find(metadata.sender_agent_id, keyId)
  const others = ring
    .named(keyId)
    .filter((key) => key !== own && key.signer.organizationId === metadata.sender_org_id)
  const keys = [...(own ? [own] : []), ...others].slice(0, MAXIMUM_TRIED_KEYS)
  if (keys.length === 0) return refuse(subject, 'revocation_signature', { fault: 'key_unknown' })
  const saidAt = entry.textAt('proof/requested_at') ?? 'never'
  const body = bodyOf(subject, MEMBERS)
  return verifyStatementEntry(subject, {
    code: 'revocation_signature',
    values: (key) => ({ role: key === own ? 'sender' : 'other' }),
    body,
    keys,
    saidAt,
    isDatedByClaim: true,
  })
}
