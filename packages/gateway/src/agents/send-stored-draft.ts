import type { Database } from '@agent-exchange/database'
import type { SendOptions, SentPackage, StoredDraft } from '@agent-exchange/sdk'
import { isCurrentPolicy } from '../policies/agent-policies.ts'
import { GatewayProblem } from '../problems.ts'
import type { HostedAgent } from './hosted-agent.ts'

/** Sends a draft, whoever asks for it. */
export async function sendStoredDraft(
  db: Database,
  hosted: HostedAgent,
  draft: StoredDraft,
  options?: SendOptions,
): Promise<SentPackage> {
  await requireCurrentPolicy(db, hosted, draft)
  return hosted.drafts.send(draft.draftId, options)
}

/**
 * A draft keeps the policy that it was written under. If an administrator changed or removed that policy since, only a
 * person's approval of exactly this draft lets it out.
 */
async function requireCurrentPolicy(
  db: Database,
  { agentId }: HostedAgent,
  { state, policy }: StoredDraft,
): Promise<void> {
  if (state === 'approved' || (await isCurrentPolicy(db, agentId, policy))) return
  throw new GatewayProblem('policy_refused', {
    reason: 'The policy of this draft was changed or removed. Draft it again.',
  })
}
