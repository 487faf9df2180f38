import type { Read } from '../../kernel/call.ts'
import { isStorable } from '../../kernel/bounds.ts'
import { Problem } from '../../kernel/problem.ts'
import { findAgent } from './agent-store.ts'
import { keysOf } from './key-store.ts'
import { toAgent } from './resources.ts'

/** ID-02. Agents are readable by every authenticated caller (O-09). */
export const getAgent: Read<'getAgent'> = async ({ params }, db) => {
  const agent = isStorable(params.agent_id) ? await findAgent(db, params.agent_id) : undefined
  if (!agent) throw new Problem('resource_not_found')
  return toAgent(agent, await keysOf(db, agent.agent_id))
}
