import { addPushEndpoint, listPushEndpoints, removePushEndpoint } from '@agent-exchange/gateway'
import { Command } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { visible, visibleJson } from '../../visible.ts'
import { agentOption, gatewayLeaf, requireAgent, type Json } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'
import { recorded } from './recorded.ts'

interface OfAgent extends Json {
  readonly agent: string
}

export function gatewayPushCommand(): Command {
  const set = gatewayLeaf(
    'set',
    'Push received packages of an agent to an endpoint: prints its secret once',
    'push set https://erp.company.example/packages --agent agent_planner',
  )
    .argument('<url>', 'https, at a host of AEX_GATEWAY_PUSH_HOSTS')
    .addOption(agentOption())
    .action(setEndpoint)
  const list = gatewayLeaf('list', 'Endpoints that packages are pushed to', 'push list').action(listAll)
  const remove = gatewayLeaf(
    'remove',
    'End pushing for an agent; systems take its packages from the inbox again',
    'push remove --agent agent_planner',
  )
    .addOption(agentOption())
    .action(removeEndpoint)
  return new Command('push')
    .description('Push of received packages, signed by the Standard Webhooks convention')
    .addCommand(set)
    .addCommand(list)
    .addCommand(remove)
}

async function setEndpoint(url: string, { agent, json }: OfAgent): Promise<void> {
  const { endpointId, secret } = await withGateway(async (gateway) => {
    await requireAgent(gateway, agent)
    const { box, config } = gateway
    return recorded(
      gateway,
      async (tx) => {
        // One statement cannot do both: the index of endpoints in use would see the former one and its successor.
        await removePushEndpoint(tx, agent)
        return addPushEndpoint(tx, { agentId: agent, url, allowedHosts: config.pushHosts }, box)
      },
      ({ endpointId: target }) => ({
        action: 'push.add',
        target,
        details: { agent, host: new URL(url).host },
      }),
    )
  })
  if (json) return console.log(visibleJson({ endpoint_id: endpointId, agent_id: agent, url, secret }))
  console.log(visible(`Packages for ${agent} are pushed to ${url}.`))
  console.log(`  secret  ${secret}   (shown once; it verifies the signatures)`)
  console.log(`  end it  ${aexStep('gateway', 'push', 'remove', '--agent', agent)}`)
}

async function listAll({ json }: Json): Promise<void> {
  const endpoints = await withGateway(({ db, box }) => listPushEndpoints(db, box))
  const rows = endpoints.map(({ endpointId, agentId, url }) => ({
    endpoint_id: endpointId,
    agent_id: agentId,
    url,
  }))
  if (json) return console.log(visibleJson(rows))
  if (rows.length === 0) console.log('Nothing is pushed. Systems take packages from the inbox.')
  for (const { agent_id, url } of rows) console.log(visible(`${agent_id}  ${url}`))
}

async function removeEndpoint({ agent, json }: OfAgent): Promise<void> {
  const isRemoved = await withGateway((gateway) =>
    recorded(
      gateway,
      (tx) => removePushEndpoint(tx, agent),
      (isGone) => (isGone ? { action: 'push.remove', target: agent } : undefined),
    ),
  )
  if (!isRemoved)
    throw new CommandFailure(
      `Nothing is pushed for ${agent}. List endpoints: ${aexStep('gateway', 'push', 'list')}`,
    )
  if (json) return console.log(visibleJson({ agent_id: agent, removed: true }))
  console.log(`Packages for ${agent} are no longer pushed.`)
}
