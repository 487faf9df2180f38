import type { PackageResource } from '@agent-exchange/protocol'
import { hasNextPage, MAXIMUM_SHOWN_PAGES } from '@agent-exchange/sdk/internal'
import { Type, type Static } from 'typebox'
import type { McpAgent } from '../mcp-agent.ts'
import { MAXIMUM_THREAD_PACKAGES } from '../mcp-limits.ts'
import { agentIdText, packageId, packageStateText, timeText } from '../tools/common-schemas.ts'

const party = Type.Object({ organization_id: Type.String(), agent_id: agentIdText })

/** A package of a thread: ids, state and times. Other metadata is free text of its sender. */
export const threadPackage = Type.Object({
  package_id: packageId,
  state: packageStateText,
  from: party,
  to: party,
  sent_by_this_agent: Type.Boolean(),
  created_at: timeText,
  updated_at: timeText,
  responds_to: Type.Optional(packageId),
})
export type ThreadPackage = Static<typeof threadPackage>

export interface ThreadPage {
  readonly packages: ThreadPackage[]
  /** True if the thread has more packages than one call returns. */
  readonly truncated: boolean
}

export async function readThreadPackages(
  agent: Pick<McpAgent, 'thread' | 'identity'>,
  threadId: string,
  signal?: AbortSignal,
): Promise<ThreadPage> {
  const packages: ThreadPackage[] = []
  let truncated = false
  const options = { maximumPages: MAXIMUM_SHOWN_PAGES, ...(signal && { signal }) }
  for await (const page of agent.thread(threadId, options)) {
    truncated = hasNextPage(page)
    for (const resource of page.packages) {
      if (packages.length === MAXIMUM_THREAD_PACKAGES) return { packages, truncated: true }
      packages.push(shown(resource, agent.identity.agentId))
    }
  }
  return { packages, truncated }
}

function shown(
  { package_id, state, updated_at, metadata }: PackageResource,
  ownAgentId: string,
): ThreadPackage {
  const { responds_to_package_id: respondsTo } = metadata
  return {
    package_id,
    state,
    from: { organization_id: metadata.sender_org_id, agent_id: metadata.sender_agent_id },
    to: { organization_id: metadata.recipient_org_id, agent_id: metadata.recipient_agent_id },
    sent_by_this_agent: metadata.sender_agent_id === ownAgentId,
    created_at: metadata.created_at,
    updated_at,
    ...(respondsTo !== undefined && { responds_to: respondsTo }),
  }
}
