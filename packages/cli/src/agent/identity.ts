import type { Identity } from '@agent-exchange/sdk'
import { openAgentFolder } from '@agent-exchange/sdk/internal/node'
import { explained } from './agent-failure.ts'

/** The given identity, or that of the agent's folder. */
export async function identityFrom({
  dir,
  org,
  agent,
}: {
  readonly dir: string
  readonly org?: string
  readonly agent?: string
}): Promise<Identity> {
  if (org !== undefined && agent !== undefined) return { organizationId: org, agentId: agent }
  const { identity } = await explained({ dir }, () => openAgentFolder(dir))
  return { organizationId: org ?? identity.organizationId, agentId: agent ?? identity.agentId }
}
