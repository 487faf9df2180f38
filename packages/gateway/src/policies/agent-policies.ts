import { canonicalize, parseStrictJson } from '@agent-exchange/crypto'
import type { Queries } from '@agent-exchange/database'
import { validateObject, type PolicyEnvelope } from '@agent-exchange/protocol'
import { GatewayProblem } from '../problems.ts'

/** Owner of the table agent_policy. A system that could write its own policy would write one that needs no person. */

const MAXIMUM_POLICIES = 50
const MAXIMUM_POLICY_BYTES = 65_536

/** Stores a policy of an agent, in place of one with the same id. `text` is what a person wrote. */
export async function putPolicy(db: Queries, agentId: string, text: string): Promise<PolicyEnvelope> {
  const policy = readPolicy(text)
  const { count } = await db`
    insert into agent_policy (agent_id, policy_id, policy)
    select ${agentId}, ${policy.policy_id}, ${canonicalize(policy)}
    where (select count(*) from agent_policy where agent_id = ${agentId} and policy_id <> ${policy.policy_id})
      < ${MAXIMUM_POLICIES}
    on conflict (agent_id, policy_id) do update set policy = excluded.policy, created_at = now()`
  if (count === 0) throw new Error(`An agent has at most ${MAXIMUM_POLICIES} policies. Remove one first.`)
  return policy
}

function readPolicy(text: string): PolicyEnvelope {
  if (Buffer.byteLength(text) > MAXIMUM_POLICY_BYTES)
    throw new Error(`A policy has at most ${MAXIMUM_POLICY_BYTES} bytes.`)
  const result = validateObject(parseStrictJson(text))
  if (!result.valid || result.object.object_type !== 'policy_envelope')
    throw new Error('This is no valid policy_envelope. Check it with aex validate.')
  return result.object
}

export async function listPolicies(db: Queries, agentId: string): Promise<PolicyEnvelope[]> {
  const rows = await db<{ policy: string }[]>`
    select policy from agent_policy where agent_id = ${agentId} order by policy_id limit ${MAXIMUM_POLICIES}`
  return rows.map(({ policy }) => JSON.parse(policy) as PolicyEnvelope)
}

export async function removePolicy(db: Queries, agentId: string, policyId: string): Promise<boolean> {
  const { count } = await db`
    delete from agent_policy where agent_id = ${agentId} and policy_id = ${policyId}`
  return count > 0
}

/** The policy that a system chose. */
export async function policyNamed(db: Queries, agentId: string, policyId: string): Promise<PolicyEnvelope> {
  const policies = await listPolicies(db, agentId)
  const found = policies.find(({ policy_id }) => policy_id === policyId)
  if (found) return found
  throw new GatewayProblem('policy_unknown', { policies: policies.map(({ policy_id }) => policy_id) })
}

/** Whether the policy of a draft is still one of the agent's, unchanged. */
export async function isCurrentPolicy(
  db: Queries,
  agentId: string,
  policy: PolicyEnvelope,
): Promise<boolean> {
  const wanted = canonicalize(policy)
  return (await listPolicies(db, agentId)).some((each) => canonicalize(each) === wanted)
}
