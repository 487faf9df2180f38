import type { Transaction } from '@agent-exchange/database'
import type { PolicyEnvelope } from '@agent-exchange/protocol'
import type { DraftRecord } from '@agent-exchange/sdk/internal'
import type { ContentStore } from './content-store.ts'

type Contents = Pick<ContentStore, 'put'>
type Party = DraftRecord['content']['sender']

/**
 * The agent's own copy of what it sent, under the same guard as what it receives. In the transaction that takes the
 * content from its draft, so that no crash loses it.
 */
export function keepSent(
  tx: Transaction,
  contents: Contents,
  agentId: string,
  document: DraftRecord['content'],
): Promise<void> {
  const { package_id: packageId, thread_id: threadId, object, sender, recipient, policy } = document
  const provenance = provenanceOf(sender, recipient, policy, document.responds_to_package_id)
  return contents.put(tx, { agentId, packageId, threadId, direction: 'sent', object, provenance })
}

function provenanceOf(from: Party, to: Party, policy: PolicyEnvelope, respondsTo: string | undefined) {
  return {
    from,
    to,
    policy_id: policy.policy_id,
    forwarding_allowed: policy.forwarding.allowed,
    disclosure_level: policy.granularity.level,
    ...(respondsTo !== undefined && { responds_to: respondsTo }),
  }
}
