import type { Caller } from './call.ts'
import { Problem } from './problem.ts'

/** AUTH-03, O-09: a token acts for its own organization and, where it belongs to one agent, only as that agent. */
export function requireActingAs(caller: Caller, organizationId: string, agentId: string): void {
  if (caller.organizationId !== organizationId) throw new Problem('not_permitted')
  requireAgent(caller, agentId)
}

export function requireAgent(caller: Caller, agentId: string): void {
  if (caller.agentId !== undefined && caller.agentId !== agentId) throw new Problem('not_permitted')
}
