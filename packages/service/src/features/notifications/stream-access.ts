import type { Caller } from '../../kernel/call.ts'
import type { Context } from '../../kernel/context.ts'
import { RoleRefusal } from '../../kernel/roles.ts'

/** O-09: whether a client of one agent may use the stream of the whole organization. */
export function requireStreamAccess(caller: Caller, { profile }: Context): void {
  if (caller.agentId !== undefined && !profile['O-09'].agent_clients_use_stream) throw new RoleRefusal()
}

export function requireEndpointAccess(caller: Caller, { profile }: Context): void {
  if (caller.agentId !== undefined && !profile['O-09'].agent_clients_manage_endpoints) throw new RoleRefusal()
}
