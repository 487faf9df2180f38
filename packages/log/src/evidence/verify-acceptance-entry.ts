import { isEligible } from '@agent-exchange/protocol'
import type { EntryCase, EntryVerdict } from './entry-case.ts'

/** The entries of the policy receipt repeat the receipt, whose signature was verified. */
export function verifyPolicyEntry(subject: EntryCase): EntryVerdict {
  const { entry, record, profile } = subject
  const { policy_receipt: receipt } = record
  entry.cover('proof/kind')
  entry.expect('proof/policy_receipt_id', receipt.policy_receipt_id)
  entry.expect('proof/content_digest', receipt.content_digest)
  entry.expect('proof/policy_digest', receipt.policy_digest)
  entry.expect('proof/signature', receipt.signature)
  const isApproval = entry.value.proof.kind === 'approval_recorded'
  if (isApproval) entry.expect('proof/approved_at', receipt.human_approval.approved_at)
  const evaluated = isEligible(receipt, profile) ? 'eligible' : 'ineligible'
  return signedBySender(subject, isApproval ? 'approved' : evaluated)
}

/** The entries of the acceptance repeat what the platform signed. */
export function verifyAcceptanceEntry(subject: EntryCase): EntryVerdict {
  const { entry, metadata, proved, packageId } = subject
  entry.cover('proof/kind')
  entry.expect('proof/content_digest', metadata.content_digest)
  if (entry.has('proof/acceptance')) {
    entry.expect('proof/signing_key_id', entry.at('proof/acceptance/signing_key_id'))
    entry.expect('proof/policy_receipt_id', metadata.policy_receipt_id)
    entry.coverIfEqual('proof/recorded_at', entry.at('proof/acceptance/accepted_at'))
  }
  return { ...signedBySender(subject), isSigned: proved.get(packageId)?.isAccepted ?? false }
}

function signedBySender({ metadata, record }: EntryCase, decision?: string): EntryVerdict {
  return {
    isSigned: true,
    claim: 'recording',
    leadsTo: [],
    facts: {
      actor: { agentId: metadata.sender_agent_id, organizationId: metadata.sender_org_id },
      policyId: record.policy_receipt.policy_id,
      ...(decision !== undefined && { decision }),
    },
  }
}
