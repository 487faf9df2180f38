import type { Database } from '@agent-exchange/database'
import type { StoredDraft } from '@agent-exchange/sdk'
import type { ContentStore } from './content-store.ts'

/** The agent's own copy of what it sent, under the same guard as what it receives. */
export async function keepSent(
  { db, contents }: { readonly db: Database; readonly contents: ContentStore },
  agentId: string,
  draft: StoredDraft,
): Promise<void> {
  const { packageId, threadId, object, sender, recipient, policy, respondsTo } = draft
  await db.begin((tx) =>
    contents.put(tx, {
      agentId,
      packageId,
      threadId,
      direction: 'sent',
      object,
      provenance: {
        from: { organization_id: sender.organizationId, agent_id: sender.agentId },
        to: { organization_id: recipient.organizationId, agent_id: recipient.agentId },
        policy_id: policy.policy_id,
        forwarding_allowed: policy.forwarding.allowed,
        disclosure_level: policy.granularity.level,
        ...(respondsTo !== undefined && { responds_to: respondsTo }),
      },
    }),
  )
}
