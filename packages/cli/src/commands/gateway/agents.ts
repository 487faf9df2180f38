import { text } from 'node:stream/consumers'
import { addAgent, listAgents } from '@agent-exchange/gateway'
import { Command } from 'commander'
import { skillsOption, type SkillVersions } from '../../agent/skill-option.ts'
import { aexStep } from '../../next-step.ts'
import { VERSION } from '../../version.ts'
import { visible, visibleJson } from '../../visible.ts'
import { gatewayLeaf, type Json } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'

export function gatewayAgentCommand(): Command {
  const add = gatewayLeaf(
    'add',
    'Join an exchange by an invitation: keys, client and registration of a new agent',
    'agent add aexinv_eyJ2… --agent agent_planner',
    'agent add - < invitation.txt',
  )
    .argument('<invitation>', 'text from the operator of the exchange; - reads standard input')
    .option('--agent <agent_id>', 'id of the agent, where the invitation names none')
    .addOption(skillsOption())
    .action(addOne)
  const list = gatewayLeaf('list', 'Agents that this gateway runs', 'agent list').action(listAll)
  return new Command('agent').description('Agents of the gateway').addCommand(add).addCommand(list)
}

async function addOne(
  given: string,
  options: Json & { agent?: string; skill: SkillVersions },
): Promise<void> {
  const invitation = given === '-' ? await text(process.stdin) : given
  const { agentId, organizationId, baseUrl, clientId, fingerprint } = await withGateway((gateway) =>
    addAgent(gateway, {
      invitation,
      ...(options.agent !== undefined && { agentId: options.agent }),
      registration: {
        implementation: 'aex gateway',
        implementationVersion: VERSION,
        skillVersions: options.skill,
      },
    }),
  )
  if (options.json)
    return console.log(
      visibleJson({
        agent_id: agentId,
        organization_id: organizationId,
        base_url: baseUrl,
        client_id: clientId,
        fingerprint,
      }),
    )
  console.log(visible(`${agentId} of ${organizationId} has joined ${baseUrl}`))
  console.log(`  client       ${clientId}`)
  console.log(`  fingerprint  ${fingerprint}`)
  console.log(`  run it       ${aexStep('gateway', 'serve')}   (a running gateway has it within seconds)`)
}

async function listAll({ json }: Json): Promise<void> {
  const agents = await withGateway(({ db }) => listAgents(db))
  const rows = agents.map(({ agentId, organizationId, baseUrl, clientId }) => ({
    agent_id: agentId,
    organization_id: organizationId,
    base_url: baseUrl,
    state: clientId === '' ? 'unfinished' : 'joined',
  }))
  if (json) return console.log(visibleJson(rows))
  if (rows.length === 0)
    console.log(`No agents. Add one: ${aexStep('gateway', 'agent', 'add', 'INVITATION')}`)
  for (const row of rows)
    console.log(visible(`${row.agent_id}  ${row.organization_id}  ${row.base_url}  ${row.state}`))
}
