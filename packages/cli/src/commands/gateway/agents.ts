import { text } from 'node:stream/consumers'
import { addAgent, listAgents, openHostedAgent } from '@agent-exchange/gateway'
import { Command, Option } from 'commander'
import { skillsOption, type SkillVersions } from '../../agent/skill-option.ts'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { VERSION } from '../../version.ts'
import { visible, visibleJson } from '../../visible.ts'
import { withGateway } from './opened-gateway.ts'

interface Json {
  readonly json?: boolean
}

export function gatewayAgentCommand(): Command {
  const add = new Command('add')
    .description('Join an exchange by an invitation: keys, client and registration of a new agent')
    .argument('<invitation>', 'text from the operator of the exchange; - reads standard input')
    .option('--agent <agent_id>', 'id of the agent, where the invitation names none')
    .addOption(skillsOption())
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  $ aex gateway agent add aexinv_eyJ2… --agent agent_planner\n  $ aex gateway agent add - < invitation.txt',
    )
    .action(addOne)
  const list = new Command('list')
    .description('Agents that this gateway runs')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExamples:\n  $ aex gateway agent list')
    .action(listAll)
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

const agentOption = () => new Option('--agent <agent_id>', 'agent of this gateway').makeOptionMandatory()

export function gatewayKeyCommand(): Command {
  const list = new Command('list')
    .description('Keys of an agent: role, stage, when they were made')
    .addOption(agentOption())
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExamples:\n  $ aex gateway key list --agent agent_planner')
    .action(async ({ agent, json }: Json & { agent: string }) => {
      const keys = await withAgent(agent, (hosted) => hosted.agent.context.keys.list())
      const rows = keys.map(({ keyId, role, stage, createdAt }) => ({
        key_id: keyId,
        role,
        stage,
        created_at: createdAt,
      }))
      if (json) return console.log(visibleJson(rows))
      for (const row of rows)
        console.log(
          visible(`${row.role.padEnd(10)}  ${row.stage.padEnd(8)}  ${row.created_at}  ${row.key_id}`),
        )
    })
  const rotate = new Command('rotate')
    .description('Replace the signing or the encryption key of an agent')
    .addOption(agentOption())
    .addOption(
      new Option('--role <role>', 'which key').choices(['signing', 'encryption']).makeOptionMandatory(),
    )
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExamples:\n  $ aex gateway key rotate --agent agent_planner --role encryption')
    .action(async ({ agent, role, json }: Json & { agent: string; role: 'signing' | 'encryption' }) => {
      const { current, previous } = await withAgent(agent, (hosted) => hosted.agent.rotateKey(role))
      if (json) return console.log(visibleJson({ current: current.keyId, previous: previous.keyId }))
      console.log(`The ${role} key of ${agent} is ${current.keyId}. It replaces ${previous.keyId}.`)
      console.log(`  look  ${aexStep('gateway', 'key', 'list', '--agent', agent)}`)
    })
  return new Command('key')
    .description('Keys of the agents of the gateway')
    .addCommand(list)
    .addCommand(rotate)
}

function withAgent<T>(
  agentId: string,
  work: (hosted: Awaited<ReturnType<typeof openHostedAgent>>) => Promise<T>,
): Promise<T> {
  return withGateway(async (gateway) => {
    const found = (await listAgents(gateway.db)).find((each) => each.agentId === agentId)
    if (!found)
      throw new CommandFailure(
        `This gateway has no ${agentId}. List its agents: ${aexStep('gateway', 'agent', 'list')}`,
      )
    return work(await openHostedAgent(gateway, found))
  })
}
