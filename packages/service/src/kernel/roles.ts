import type { Caller } from './call.ts'
import { Problem } from './problem.ts'

/** The token may never do this, so no earlier success of this caller is to be repeated (API-05). */
export class RoleRefusal extends Problem {
  constructor() {
    super('not_permitted')
  }
}

/** AUTH-03, O-09: a token acts for its own organization and, where it belongs to one agent, only as that agent. */
export function requireActingAs(caller: Caller, organizationId: string, agentId: string): void {
  if (caller.organizationId !== organizationId) throw new RoleRefusal()
  requireAgent(caller, agentId)
}

export function requireAgent(caller: Caller, agentId: string): void {
  if (caller.agentId !== undefined && caller.agentId !== agentId) throw new RoleRefusal()
}
