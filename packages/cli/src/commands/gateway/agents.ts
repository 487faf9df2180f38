import { text } from 'node:stream/consumers'
import { addAgent, gatewayPlace, importAgent, listAgents } from '@agent-exchange/gateway'
import { Command } from 'commander'
import { passphraseOption } from '../../agent/agent-options.ts'
import { passphraseFrom } from '../../agent/passphrase.ts'
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
  const move = gatewayLeaf(
    'import',
    'Move the agent of a folder (aex agent) into the gateway, with everything it keeps; the folder is retired',
    'agent import ./aex-agent',
    'agent import ./aex-agent --agent agent_planner --passphrase-file passphrase.txt',
  )
    .argument('<folder>', 'folder of the agent; nothing may use it meanwhile')
    .option('--agent <agent_id>', 'refuse the folder of another agent')
    .addOption(passphraseOption())
    .action(importOne)
  return new Command('agent')
    .description('Agents of the gateway')
    .addCommand(add)
    .addCommand(move)
    .addCommand(list)
}

async function importOne(
  folder: string,
  { agent, passphraseFile, json }: Json & { agent?: string; passphraseFile?: string },
): Promise<void> {
  const passphrase = passphraseFrom(passphraseFile)
  const moved = await withGateway(
    (gateway) =>
      importAgent(gateway, { folder, passphrase, agentId: agent, gateway: gatewayPlace(gateway.config) }),
    { place: { dir: folder } },
  )
  const { agentId, organizationId, baseUrl, applicationTables, ...counts } = moved
  if (json)
    return console.log(
      visibleJson({
        agent_id: agentId,
        organization_id: organizationId,
        base_url: baseUrl,
        ...counts,
        application_tables: applicationTables,
      }),
    )
  const counted = Object.entries(counts).map(([what, count]) => `${what} ${count}`)
  console.log(visible(`${agentId} of ${organizationId} is an agent of this gateway now.`))
  console.log(`  moved   ${counted.join(', ')}`)
  console.log(visible(`  folder  ${folder} is retired; nothing in it was deleted`))
  if (applicationTables.length > 0)
    console.log(visible(`  left    tables of your program in inbox.db: ${applicationTables.join(', ')}`))
  console.log(`  run it  ${aexStep('gateway', 'serve')}   (a running gateway has it within seconds)`)
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
