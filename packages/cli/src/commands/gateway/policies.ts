import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { listPolicies, putPolicy, removePolicy } from '@agent-exchange/gateway'
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

export function gatewayPolicyCommand(): Command {
  const add = gatewayLeaf(
    'add',
    'Give an agent a policy that systems may choose; replaces one with the same id',
    'policy add policy.json --agent agent_planner',
  )
    .argument('<file>', 'a policy_envelope as JSON; - reads standard input')
    .addOption(agentOption())
    .action(addOne)
  const list = gatewayLeaf('list', 'Policies of an agent', 'policy list --agent agent_planner')
    .addOption(agentOption())
    .action(listAll)
  const remove = gatewayLeaf(
    'remove',
    'Take a policy from an agent; drafts that use it can no longer be sent',
    'policy remove pol_supply --agent agent_planner',
  )
    .argument('<policy_id>', 'see: aex gateway policy list')
    .addOption(agentOption())
    .action(removeOne)
  return new Command('policy')
    .description('Policies that systems may choose')
    .addCommand(add)
    .addCommand(list)
    .addCommand(remove)
}

async function addOne(file: string, { agent, json }: OfAgent): Promise<void> {
  const given = await readPolicy(file)
  const { policy_id, purpose } = await withGateway(async (gateway) => {
    await requireAgent(gateway, agent)
    return recorded(
      gateway,
      (tx) => putPolicy(tx, agent, given),
      ({ policy_id: target }) => ({ action: 'policy.put', target, details: { agent } }),
    )
  })
  if (json) return console.log(visibleJson({ agent_id: agent, policy_id }))
  console.log(visible(`Systems of ${agent} may use ${policy_id} (${purpose}).`))
  console.log(`  look  ${aexStep('gateway', 'policy', 'list', '--agent', agent)}`)
}

async function readPolicy(file: string): Promise<string> {
  if (file === '-') return text(process.stdin)
  return readFile(file, 'utf8').catch(() => {
    throw new CommandFailure(
      `${file} cannot be read. Write one: ${aexStep('new', 'policy_envelope', '--help')}`,
    )
  })
}

async function listAll({ agent, json }: OfAgent): Promise<void> {
  const policies = await withGateway(async (gateway) => {
    await requireAgent(gateway, agent)
    return listPolicies(gateway.db, agent)
  })
  if (json) return console.log(visibleJson(policies))
  if (policies.length === 0)
    console.log(`No policies. Add one: ${aexStep('gateway', 'policy', 'add')} FILE --agent ${agent}`)
  for (const { policy_id, purpose, human_approval } of policies) {
    const person = human_approval.required ? 'needs a person' : 'needs no person'
    console.log(visible(`${policy_id}  ${purpose}  ${person}`))
  }
}

async function removeOne(policyId: string, { agent, json }: OfAgent): Promise<void> {
  const isRemoved = await withGateway((gateway) =>
    recorded(
      gateway,
      (tx) => removePolicy(tx, agent, policyId),
      (isGone) => (isGone ? { action: 'policy.remove', target: policyId, details: { agent } } : undefined),
    ),
  )
  if (!isRemoved)
    throw new CommandFailure(
      `${agent} has no ${policyId}. List its policies: ${aexStep('gateway', 'policy', 'list', '--agent', agent)}`,
    )
  if (json) return console.log(visibleJson({ agent_id: agent, policy_id: policyId, removed: true }))
  console.log(visible(`${agent} no longer has ${policyId}.`))
}
