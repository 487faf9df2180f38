import { listAgents, type OpenGateway } from '@agent-exchange/gateway'
import { Command, Option } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'

export interface Json {
  readonly json?: boolean
}

/** A command of the gateway, with --json and examples. */
export function gatewayLeaf(name: string, description: string, ...examples: readonly string[]): Command {
  return new Command(name)
    .description(description)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `\nExamples:\n${examples.map((example) => `  $ aex gateway ${example}`).join('\n')}`,
    )
}

export const agentOption = () =>
  new Option('--agent <agent_id>', 'agent of this gateway').makeOptionMandatory()

export const byOption = () =>
  new Option('--by <name>', 'person who is responsible for it').makeOptionMandatory()

export async function requireAgent({ db }: OpenGateway, agentId: string) {
  const found = (await listAgents(db)).find((each) => each.agentId === agentId)
  if (found) return found
  throw new CommandFailure(
    `This gateway has no ${agentId}. List its agents: ${aexStep('gateway', 'agent', 'list')}`,
  )
}
