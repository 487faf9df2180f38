import { shortIdentifier, type Part } from '@agent-exchange/web'
import { agentPath } from '../links.ts'

/** Who joined by an invitation, or may join. */
export function invitedAgent(invitation: {
  readonly agent_id?: string
  readonly used_agent_id?: string | null
}): Part {
  const { agent_id, used_agent_id } = invitation
  if (used_agent_id) return shortIdentifier(used_agent_id, agentPath(used_agent_id))
  return agent_id === undefined ? 'any new agent' : shortIdentifier(agent_id)
}
