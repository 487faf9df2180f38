import type { PackageResource } from '@agent-exchange/protocol'
import { hasNextPage, isSenderOf } from '@agent-exchange/sdk/internal'
import { threadOfOwn } from '../../agents/own-packages.ts'
import type { HostedAgent } from '../../agents/hosted-agent.ts'
import { agentOf, type Handler } from '../call.ts'

const MAXIMUM_THREAD_PACKAGES = 500

export const readThread: Handler<'readThread'> = async (call) => {
  const hosted = agentOf(call)
  const threadId = call.path['thread_id'] ?? ''
  const packages: object[] = []
  let truncated = false
  for await (const page of threadOfOwn(hosted, threadId, { signal: call.signal })) {
    const room = MAXIMUM_THREAD_PACKAGES - packages.length
    packages.push(...page.packages.slice(0, room).map((each) => shown(hosted, each)))
    const isFull = page.packages.length > room
    truncated = isFull || hasNextPage(page)
    if (isFull) break
  }
  return { body: { thread_id: threadId, packages, truncated } }
}

function shown({ agent }: HostedAgent, { package_id, state, updated_at, metadata }: PackageResource) {
  const { responds_to_package_id: respondsTo } = metadata
  return {
    package_id,
    state,
    from: { organization_id: metadata.sender_org_id, agent_id: metadata.sender_agent_id },
    to: { organization_id: metadata.recipient_org_id, agent_id: metadata.recipient_agent_id },
    sent_by_this_agent: isSenderOf(agent.identity, metadata),
    created_at: metadata.created_at,
    updated_at,
    ...(respondsTo !== undefined && { responds_to: respondsTo }),
  }
}
