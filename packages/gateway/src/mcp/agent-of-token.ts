import type { HostedAgent, HostedAgents } from '../agents/hosted-agent.ts'
import { GatewayProblem } from '../problems.ts'
import { mayActFor, type Caller } from '../systems/verbs.ts'

/**
 * The agent of the path, or the only one that the token permits. One that it does not permit and an unknown one answer
 * alike.
 */
export function agentOfToken(agents: HostedAgents, caller: Caller, named: string | undefined): HostedAgent {
  const permitted = agents.list().filter(({ agentId }) => mayActFor(caller, agentId))
  const found = named === undefined ? permitted : permitted.filter(({ agentId }) => agentId === named)
  const [agent] = found
  if (!agent) throw new GatewayProblem('resource_not_found')
  if (found.length > 1)
    throw new GatewayProblem('validation_failed', {
      reason: 'The token permits several agents. Use the address /mcp/AGENT_ID.',
    })
  return agent
}
