import { RECORDING, type EntryCase, type EntryVerdict } from './entry-case.ts'
import { bodyOf, refuse, verifyStatementEntry } from './verify-statement-entry.ts'

const MEMBERS = ['requested_at', 'reason_code', 'reason_detail', 'signature']
/** Keys of one id and organization that are tried: more than one is already unusual. */
const MAXIMUM_TRIED_KEYS = 16
const WHAT = 'the sender signed the revocation'
const whatBy = (agentId: string) => `${agentId} signed the revocation for the sender`

/** PKG-10: the sending agent, or another one of its organization (O-46), withdrew the package. */
export async function verifyRevocationEntry(subject: EntryCase): Promise<EntryVerdict> {
  const { metadata, findings, packageId, entry } = subject
  const signed = await verifySignature(subject)
  if (!signed) return { isSigned: false, word: 'an unsigned revocation', leadsTo: [] }
  const { agentId, organizationId } = signed.key.signer
  const about = { packageId, position: entry.value.position }
  if (agentId !== metadata.sender_agent_id)
    findings.word(
      'that the agent who signed belongs to the organization',
      { agent_id: agentId, organization_id: organizationId },
      about,
    )
  // The body names no package, so the plain form (O-22) fits any.
  if (signed.form === 'plain') findings.word('which package the revocation is about', packageId, about)
  return { isSigned: true, word: RECORDING, facts: { actor: signed.key.signer }, leadsTo: ['revoked'] }
}

async function verifySignature(subject: EntryCase) {
  const { entry, metadata, ring } = subject
  if (!entry.has('proof/signature'))
    return refuse(subject, WHAT, 'nobody signed it: only the exchange says so')
  const keyId = entry.textAt('proof/signature/key_id') ?? ''
  const own = ring.find(metadata.sender_agent_id, keyId)
  const others = ring
    .named(keyId)
    .filter((key) => key !== own && key.signer.organizationId === metadata.sender_org_id)
  const keys = [...(own ? [own] : []), ...others].slice(0, MAXIMUM_TRIED_KEYS)
  if (keys.length === 0) return refuse(subject, WHAT, 'the signature names no key of the sender')
  const saidAt = entry.textAt('proof/requested_at') ?? 'never'
  const body = bodyOf(subject, MEMBERS)
  return verifyStatementEntry(subject, {
    what: (key) => (key && key !== own ? whatBy(key.signer.agentId) : WHAT),
    body,
    keys,
    saidAt,
    isDatedByClaim: true,
  })
}
