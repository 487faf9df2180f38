import { isStorable } from '../../kernel/bounds.ts'
import type { Read } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { findAgent } from './agent-store.ts'
import { countKeyEvents, keysOf } from './key-store.ts'
import { toPublicKey } from './resources.ts'

/** ID-07. Retiring and revoked keys stay listed: history needs them. */
export const getAgentKeys: Read<'getAgentKeys'> = async ({ params, now }, db) => {
  const agentId = params.agent_id
  if (!isStorable(agentId)) throw new Problem('resource_not_found')
  // One snapshot, so that the version is that of the keys shown with it.
  const directory = await db.begin('isolation level repeatable read read only', async (tx) => {
    const agent = await findAgent(tx, agentId)
    return agent && { agent, keys: await keysOf(tx, agentId), changes: await countKeyEvents(tx, agentId) }
  })
  if (!directory) throw new Problem('resource_not_found')
  return {
    directory_version: String(directory.changes),
    generated_at: now,
    organization_id: directory.agent.organization_id,
    agent_id: agentId,
    keys: directory.keys.map(toPublicKey),
  }
}
