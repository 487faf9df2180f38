import { RECEIPT_STATES, type PackageState, type ReceiptState } from '@agent-exchange/protocol'
import type { CheckValues } from '../verdict/check.ts'
import type { FaultCode } from '../verdict/fault-codes.ts'
import type { EntryCase, EntryVerdict } from './entry-case.ts'
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
  const { entry, metadata, checks, packageId } = subject
  const state = entry.value.proof.kind.slice(RECEIPT_PREFIX.length)
  const receiptState = RECEIPT_STATES.find((each) => each === state)
  const signed = receiptState && (await verifySignature(subject, receiptState))
  if (!receiptState) refuse(subject, 'receipt_signature', { fault: 'unknown_receipt', state })
  if (!receiptState || !signed) return { isSigned: false, claim: 'unsigned_receipt', leadsTo: [] }
  const { agentId, organizationId } = signed.key.signer
  if (agentId !== metadata.recipient_agent_id)
    checks.claim(
      'membership',
      { agent_id: agentId, organization_id: organizationId },
      { package_id: packageId, position: entry.value.position },
    )
  return {
    isSigned: true,
    claim: 'recording',
    facts: { actor: signed.key.signer },
    leadsTo: LEADS_TO[receiptState],
  }
}

async function verifySignature(subject: EntryCase, state: ReceiptState) {
  const { entry, metadata, ring } = subject
  const actor = entry.textAt('proof/actor_agent_id') ?? ''
  const refused = (fault: FaultCode, values?: CheckValues) =>
    refuse(subject, 'receipt_signature', { fault, state, ...values }, actor)
  if (!entry.has('proof/signature')) return refused('no_signature')
  if (!namesContent(subject)) return refused('other_content')
  const keyId = entry.textAt('proof/signature/key_id') ?? ''
  const key = ring.find(actor, keyId)
  if (!key) {
    const owner = ring.named(keyId)[0]?.signer.agentId
    return owner === undefined ? refused('key_unknown') : refused('key_of_other', { owner })
  }
  const { organizationId: organization_id } = key.signer
  if (organization_id !== metadata.recipient_org_id) return refused('other_organization', { organization_id })
  const body = { ...bodyOf(subject, MEMBERS), state }
  const saidAt = entry.textAt('proof/occurred_at') ?? 'never'
  // ID-05: judged at arrival, so that a truthful receipt counts after a rotation.
  return verifyStatementEntry(subject, {
    code: 'receipt_signature',
    values: () => ({ state, role: actor === metadata.recipient_agent_id ? 'recipient' : 'other' }),
    body,
    keys: [key],
    saidAt,
    isDatedByClaim: false,
  })
}

/** O-23. After a revocation the exchange withholds the digest of the asset, so another one cannot be compared. */
function namesContent({ entry, metadata, record, checks, packageId }: EntryCase): boolean {
  const digest = entry.textAt('proof/package_digest')
  if ([metadata.content_digest, record.edc?.asset_digest].includes(digest)) return true
  const isWithheld = metadata.transport_mode === 'ds_x' && record.edc === undefined
  const { position } = entry.value
  if (isWithheld) checks.claim('asset', digest ?? null, { package_id: packageId, position })
  return isWithheld
}
