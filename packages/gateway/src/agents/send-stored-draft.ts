import type { Database } from '@agent-exchange/database'
import type { SendOptions, SentPackage, StoredDraft } from '@agent-exchange/sdk'
import type { ContentStore } from '../content/content-store.ts'
import { keepSent } from '../content/keep-sent.ts'
import { isCurrentPolicy } from '../policies/agent-policies.ts'
import { GatewayProblem } from '../problems.ts'
import type { HostedAgent } from './hosted-agent.ts'

export interface SendParts {
  readonly db: Database
  readonly contents: ContentStore
}

/** Sends a draft, whoever asks for it, and keeps the agent's own copy under the same guard as what it receives. */
export async function sendStoredDraft(
  parts: SendParts,
  hosted: HostedAgent,
  draft: StoredDraft,
  options?: SendOptions,
): Promise<SentPackage> {
  await requireCurrentPolicy(parts, hosted, draft)
  const sent = await hosted.drafts.send(draft.draftId, options)
  await keepSent(parts, hosted.agentId, draft)
  return sent
}

/**
 * A draft keeps the policy that it was written under. If an administrator changed or removed that policy since, only a
 * person's approval of exactly this draft lets it out.
 */
async function requireCurrentPolicy(
  { db }: SendParts,
  { agentId }: HostedAgent,
  { state, policy }: StoredDraft,
): Promise<void> {
  if (state === 'approved' || (await isCurrentPolicy(db, agentId, policy))) return
  throw new GatewayProblem('policy_refused', {
    reason: 'The policy of this draft was changed or removed. Draft it again.',
  })
}
