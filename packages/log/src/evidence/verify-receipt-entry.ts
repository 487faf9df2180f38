import { RECEIPT_STATES, type PackageState, type ReceiptState } from '@agent-exchange/protocol'
import { RECORDING, type EntryCase, type EntryVerdict } from './entry-case.ts'
import { bodyOf, refuse, verifyStatementEntry } from './verify-statement-entry.ts'

export const RECEIPT_PREFIX = 'receipt_'

const MEMBERS = ['receipt_id', 'occurred_at', 'actor_agent_id', 'package_digest', 'signature']

/** What each receipt may move; another agent's "opened" may count as "received" only (O-46). */
const LEADS_TO: Readonly<Record<ReceiptState, readonly PackageState[]>> = {
  received: ['received'],
  opened: ['received', 'opened'],
  rejected: [],
  failed: [],
}

/** PKG-08: an agent of the recipient's organization signed all members of the receipt, its state too. */
export async function verifyReceiptEntry(subject: EntryCase): Promise<EntryVerdict> {
  const { entry, metadata, findings, packageId } = subject
  const state = entry.value.proof.kind.slice(RECEIPT_PREFIX.length)
  const receiptState = RECEIPT_STATES.find((each) => each === state)
  const signed = receiptState && (await verifySignature(subject, receiptState))
  if (!receiptState)
    refuse(subject, `the recipient signed the receipt "${state}"`, 'there is no such receipt')
  if (!receiptState || !signed) return { isSigned: false, word: 'an unsigned receipt', leadsTo: [] }
  const { agentId, organizationId } = signed.key.signer
  if (agentId !== metadata.recipient_agent_id)
    findings.word(
      'that the agent who signed belongs to the organization',
      { agent_id: agentId, organization_id: organizationId },
      { packageId, position: entry.value.position },
    )
  return {
    isSigned: true,
    word: RECORDING,
    facts: { actor: signed.key.signer },
    leadsTo: LEADS_TO[receiptState],
  }
}

async function verifySignature(subject: EntryCase, state: ReceiptState) {
  const { entry, metadata, ring } = subject
  const actor = entry.textAt('proof/actor_agent_id') ?? ''
  const isRecipient = actor === metadata.recipient_agent_id
  const what = isRecipient
    ? `the recipient signed the receipt "${state}"`
    : `${actor || 'another agent'} signed the receipt "${state}" for the recipient`
  if (!entry.has('proof/signature'))
    return refuse(subject, what, 'nobody signed it: only the exchange says so')
  if (!namesContent(subject))
    return refuse(subject, what, 'it is about other content than that of this package')
  const keyId = entry.textAt('proof/signature/key_id') ?? ''
  const key = ring.find(actor, keyId)
  if (!key) {
    const owner = ring.named(keyId)[0]?.signer.agentId
    return refuse(subject, what, `the key that signed is ${owner ? `that of ${owner}` : 'unknown'}`)
  }
  const { organizationId } = key.signer
  if (organizationId !== metadata.recipient_org_id)
    return refuse(subject, what, `${actor} belongs to ${organizationId}, not to the recipient`)
  const body = { ...bodyOf(subject, MEMBERS), state }
  const saidAt = entry.textAt('proof/occurred_at') ?? 'never'
  // ID-05: judged at arrival, so that a truthful receipt counts after a rotation.
  return verifyStatementEntry(subject, {
    what: () => what,
    body,
    keys: [key],
    saidAt,
    isDatedByClaim: false,
  })
}

/** O-23. After a revocation the exchange withholds the digest of the asset, so another one cannot be compared. */
function namesContent({ entry, metadata, record, findings, packageId }: EntryCase): boolean {
  const digest = entry.textAt('proof/package_digest')
  if ([metadata.content_digest, record.edc?.asset_digest].includes(digest)) return true
  const isWithheld = metadata.transport_mode === 'ds_x' && record.edc === undefined
  const { position } = entry.value
  if (isWithheld) findings.word('which asset belongs to the package', digest ?? null, { packageId, position })
  return isWithheld
}
