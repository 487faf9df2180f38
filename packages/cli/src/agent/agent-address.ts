import { asUnknownPeer } from '@agent-exchange/sdk/internal'
import type { AgentAddress } from '@agent-exchange/sdk'
import type { FolderAgent } from '@agent-exchange/sdk/node'

/** Reads the agent's organization from the directory. */
export async function addressOf({ context }: FolderAgent, agentId: string): Promise<AgentAddress> {
  const { organization_id } = await context.connection
    .call('getAgent', { path: { agent_id: agentId } })
    .catch((error: unknown) => {
      throw asUnknownPeer(error, agentId)
    })
  return { organizationId: organization_id, agentId }
}
