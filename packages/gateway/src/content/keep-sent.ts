import type { Database, Transaction } from '@agent-exchange/database'
import type { PolicyEnvelope } from '@agent-exchange/protocol'
import type { StoredDraft } from '@agent-exchange/sdk'
import type { DraftRecord } from '@agent-exchange/sdk/internal'
import type { ContentStore } from './content-store.ts'

type Contents = Pick<ContentStore, 'put'>
type Party = DraftRecord['content']['sender']

/** The agent's own copy of what it sent, under the same guard as what it receives. The same copy again changes nothing. */
export async function keepSent(
  { db, contents }: { readonly db: Database; readonly contents: Contents },
  agentId: string,
  draft: StoredDraft,
): Promise<void> {
  const { packageId, threadId, object, sender, recipient, policy, respondsTo } = draft
  const from = { organization_id: sender.organizationId, agent_id: sender.agentId }
  const to = { organization_id: recipient.organizationId, agent_id: recipient.agentId }
  const provenance = provenanceOf(from, to, policy, respondsTo)
  await db.begin((tx) =>
    contents.put(tx, { agentId, packageId, threadId, direction: 'sent', object, provenance }),
  )
}

/** The same in the transaction that takes the content from its draft: no crash loses it. */
export function keepSentDocument(
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
