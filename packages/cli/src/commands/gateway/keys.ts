import { openHostedAgent, type HostedAgent } from '@agent-exchange/gateway'
import { Command, Option } from 'commander'
import { aexStep } from '../../next-step.ts'
import { visible, visibleJson } from '../../visible.ts'
import { agentOption, gatewayLeaf, requireAgent, type Json } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'

export function gatewayKeyCommand(): Command {
  const list = gatewayLeaf(
    'list',
    'Keys of an agent: role, stage, when they were made',
    'key list --agent agent_planner',
  )
    .addOption(agentOption())
    .action(listKeys)
  const rotate = gatewayLeaf(
    'rotate',
    'Replace the signing or the encryption key of an agent',
    'key rotate --agent agent_planner --role encryption',
  )
    .addOption(agentOption())
    .addOption(
      new Option('--role <role>', 'which key').choices(['signing', 'encryption']).makeOptionMandatory(),
    )
    .action(rotateKey)
  return new Command('key')
    .description('Keys of the agents of the gateway')
    .addCommand(list)
    .addCommand(rotate)
}

async function listKeys({ agent, json }: Json & { agent: string }): Promise<void> {
  const keys = await withAgent(agent, (hosted) => hosted.agent.context.keys.list())
  const rows = keys.map(({ keyId, role, stage, createdAt }) => ({
    key_id: keyId,
    role,
    stage,
    created_at: createdAt,
  }))
  if (json) return console.log(visibleJson(rows))
  for (const row of rows)
    console.log(visible(`${row.role.padEnd(10)}  ${row.stage.padEnd(8)}  ${row.created_at}  ${row.key_id}`))
}

async function rotateKey({
  agent,
  role,
  json,
}: Json & { agent: string; role: 'signing' | 'encryption' }): Promise<void> {
  const { current, previous } = await withAgent(agent, (hosted) => hosted.agent.rotateKey(role))
  if (json) return console.log(visibleJson({ current: current.keyId, previous: previous.keyId }))
  console.log(`The ${role} key of ${agent} is ${current.keyId}. It replaces ${previous.keyId}.`)
  console.log(`  look  ${aexStep('gateway', 'key', 'list', '--agent', agent)}`)
}

function withAgent<T>(agentId: string, work: (hosted: HostedAgent) => Promise<T>): Promise<T> {
  return withGateway(async (gateway) =>
    work(await openHostedAgent(gateway, await requireAgent(gateway, agentId))),
  )
}
