import { isStorable } from '../../kernel/bounds.ts'
import type { Mutation } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { requireAgent } from '../../kernel/roles.ts'
import { lockAgent } from './agent-store.ts'
import { inspectKeys } from './key-material.ts'
import { addKeys, readRequestedKey, type RequestedKey } from './key-registration.ts'
import { keysOf } from './key-store.ts'
import { toPublicKey } from './resources.ts'

/** ID-03. A key id is never reused within its agent, so its material never changes. */
export const registerAgentKey: Mutation<'registerAgentKey', RequestedKey> = {
  inspect: inspectKeys,

  async authorize({ caller, params, body, context }) {
    requireAgent(caller, params.agent_id)
    return readRequestedKey(body, '', context.profile)
  },

  async run(call, tx, key) {
    const { params, caller } = call
    const agentId = params.agent_id
    const agent = isStorable(agentId) ? await lockAgent(tx, agentId) : undefined
    if (agent?.organization_id !== caller.organizationId) throw new Problem('resource_not_found')
    const present = await keysOf(tx, agentId)
    const [added] = await addKeys(tx, call, agentId, { present, keys: [key] })
    if (!added) throw new Error('the key that was just written is missing')
    return toPublicKey(added)
  },
}
