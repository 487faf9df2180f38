import { compareInstants, parseInstant } from '@agent-exchange/protocol'
import type { Transaction } from '@agent-exchange/database'
import type { AnswerOf, Call, Mutation } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { requireActingAs } from '../../kernel/roles.ts'
import { countAgent } from '../organizations/usage-store.ts'
import { insertAgent, lockAgent, updateAgent } from './agent-store.ts'
import { inspectKeys } from './key-material.ts'
import { addKeys, readRequestedKey, type RequestedKey } from './key-registration.ts'
import { keysOf, type KeyRow } from './key-store.ts'
import { toAgent } from './resources.ts'

/** ID-01. The first registration includes the keys; a later one updates everything else (O-32). */
export const registerAgent: Mutation<'registerAgent', readonly RequestedKey[]> = {
  inspect: inspectKeys,

  async authorize({ caller, body, context }) {
    requireActingAs(caller, body.organization_id, body.agent_id)
    const keys: RequestedKey[] = []
    for (const [index, key] of body.keys.entries()) {
      keys.push(await readRequestedKey(key, `/keys/${index}`, context.profile))
    }
    return keys
  },

  async run(call, tx, keys) {
    const { initial_agent_status, initial_certification_status } = call.context.profile['O-05']
    const isNew = await insertAgent(tx, {
      registration: call.body,
      status: initial_agent_status,
      certificationStatus: initial_certification_status,
      now: call.now,
    })
    return isNew ? completeRegistration(call, tx, keys) : updateRegistration(call, tx, keys)
  },
}

async function completeRegistration(
  call: Call<'registerAgent'>,
  tx: Transaction,
  keys: readonly RequestedKey[],
): Promise<AnswerOf<'registerAgent'>> {
  const agentId = call.body.agent_id
  await addKeys(tx, call, agentId, { present: [], keys: successorsLast(keys) })
  await countAgent(tx, call.caller.organizationId, call.context.profile)
  return answer(tx, agentId)
}

/** Moves replacement keys behind the keys that they replace. */
function successorsLast(keys: readonly RequestedKey[]): RequestedKey[] {
  const [first, successors] = [false, true].map((successor) =>
    keys.filter(({ request }) => (request.replaces_key_id !== undefined) === successor),
  )
  return [...(first ?? []), ...(successors ?? [])]
}

async function updateRegistration(
  call: Call<'registerAgent'>,
  tx: Transaction,
  keys: readonly RequestedKey[],
): Promise<AnswerOf<'registerAgent'>> {
  const { body, caller, context, now } = call
  const agent = await lockAgent(tx, body.agent_id)
  // One fixed conflict, which reveals neither the owner of the agent nor the differing key.
  if (agent?.organization_id !== caller.organizationId) throw new Problem('identifier_conflict')
  if (context.profile['O-32'].second_registration === 'refuse') throw new Problem('identifier_conflict')
  const present = await keysOf(tx, body.agent_id)
  if (!keys.every((key) => present.some((row) => isRegisteredAs(row, key)))) {
    throw new Problem('identifier_conflict')
  }
  await updateAgent(tx, body, now)
  return answer(tx, body.agent_id)
}

function isRegisteredAs(row: KeyRow, { request, material }: RequestedKey): boolean {
  return (
    row.key_id === request.key_id &&
    row.use === request.use &&
    row.thumbprint === material.thumbprint &&
    (request.replaces_key_id ?? row.replaces_key_id) === row.replaces_key_id &&
    isSameInstant(row.valid_from, request.valid_from)
  )
}

function isSameInstant(a: string, b: string): boolean {
  const [first, second] = [parseInstant(a), parseInstant(b)]
  return first !== undefined && second !== undefined && compareInstants(first, second) === 0
}

async function answer(tx: Transaction, agentId: string): Promise<AnswerOf<'registerAgent'>> {
  const agent = await lockAgent(tx, agentId)
  if (!agent) throw new Error('the agent that was just written is missing')
  return toAgent(agent, await keysOf(tx, agentId))
}
