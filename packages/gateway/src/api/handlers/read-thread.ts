import { isSenderOf } from '@agent-exchange/sdk/internal'
import { threadOfOwn } from '../../agents/own-packages.ts'
import { agentOf, type Handler } from '../call.ts'

const MAXIMUM_THREAD_PACKAGES = 500

export const readThread: Handler<'readThread'> = async (call) => {
  const hosted = agentOf(call)
  const threadId = call.path['thread_id'] ?? ''
  const packages: object[] = []
  let truncated = false
  for await (const page of threadOfOwn(hosted, threadId, { signal: call.signal })) {
    for (const { package_id, state, updated_at, metadata } of page.packages) {
      if (packages.length === MAXIMUM_THREAD_PACKAGES) {
        truncated = true
        break
      }
      const { responds_to_package_id: respondsTo } = metadata
      packages.push({
        package_id,
        state,
        from: { organization_id: metadata.sender_org_id, agent_id: metadata.sender_agent_id },
        to: { organization_id: metadata.recipient_org_id, agent_id: metadata.recipient_agent_id },
        sent_by_this_agent: isSenderOf(hosted.agent.identity, metadata),
        created_at: metadata.created_at,
        updated_at,
        ...(respondsTo !== undefined && { responds_to: respondsTo }),
      })
    }
    if (truncated) break
  }
  return { body: { thread_id: threadId, packages, truncated } }
}
