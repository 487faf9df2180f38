import { signPolicyReceipt, type SigningKey } from '@agent-exchange/crypto'
import { policyDigest } from '@agent-exchange/log'
import type { PackageMetadata, PolicyEnvelope, PolicyReceipt } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import type { PolicyEvaluation } from '../policy/evaluate-policy.ts'

const RECEIPT_VERSION = '1.0'
const STATEMENT = 'The sending agent evaluated the five checks before it sealed the package.'

interface ReceiptParts {
  readonly draft: { readonly policy: PolicyEnvelope }
  readonly metadata: PackageMetadata
  readonly evaluation: PolicyEvaluation
  readonly evaluatedAt: string
  readonly approval: PolicyReceipt['human_approval']
  readonly signer: SigningKey
}

/** POL-02: identifiers, versions, digests and outcomes; no content. */
export async function signedPolicyReceipt(
  { deployment: { profile } }: AgentContext,
  parts: ReceiptParts,
): Promise<PolicyReceipt> {
  const { draft, metadata, evaluation, evaluatedAt, approval, signer } = parts
  const receipt = {
    policy_receipt_id: metadata.policy_receipt_id,
    receipt_version: RECEIPT_VERSION,
    package_id: metadata.package_id,
    thread_id: metadata.thread_id,
    sender_org_id: metadata.sender_org_id,
    sender_agent_id: metadata.sender_agent_id,
    recipient_org_id: metadata.recipient_org_id,
    recipient_agent_id: metadata.recipient_agent_id,
    protocol_version: metadata.protocol_version,
    skill_id: metadata.skill_id,
    skill_version: metadata.skill_version,
    content_digest: metadata.content_digest,
    policy_id: draft.policy.policy_id,
    policy_schema_version: draft.policy.schema_version,
    policy_digest: await policyDigest(draft.policy),
    checks: evaluation.checks.map(({ checkId, passed }) => ({
      check_id: checkId,
      outcome: passed ? (profile['O-34'].passing_outcomes[0] ?? 'passed') : 'failed',
    })),
    human_approval: approval,
    evaluated_at: evaluatedAt,
    statement: STATEMENT,
  }
  return { ...receipt, signature: await signPolicyReceipt(receipt, signer) }
}
