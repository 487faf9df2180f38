import type { Command } from 'commander'
import { change, pathOf, read } from './operator-api.ts'
import {
  list,
  listCommand,
  operatorCommand,
  optionalReasonOption,
  organizationOption,
  reasonOption,
  show,
  type ListOptions,
  type OutputOptions,
} from './operator-command.ts'

type Reasoned = OutputOptions & { readonly reason: string }

/** Operator commands of `aex agent`. */
export function agentAdminCommands(): Command[] {
  return [
    listCommand('list', 'List agents', 'agent list --org org_acme')
      .addOption(organizationOption())
      .action((options: ListOptions & { org?: string }) => {
        const columns = ['agent_id', 'organization_id', 'status', 'certification_status', 'implementation']
        return list('/agents', { organization_id: options.org }, columns, options)
      }),
    operatorCommand(
      'show',
      'Show an agent with its keys and their history',
      'agent show agent_planner --json',
    )
      .argument('<agent_id>', 'id of the agent')
      .action(async (id: string, output: OutputOptions) => {
        show(await read(pathOf('agents', id)), output)
      }),
    operatorCommand(
      'set-status',
      'Set the status of an agent; only an active one receives packages',
      'agent set-status agent_planner suspended --reason "incident 7"',
      'agent set-status agent_planner active --reason "incident closed"',
    )
      .argument('<agent_id>', 'id of the agent')
      .argument('<status>', 'active, suspended, paused, disabled, retired, or what the profile lists (O-05)')
      .addOption(reasonOption())
      .action(async (id: string, status: string, { reason, ...output }: Reasoned) => {
        show(await change(`${pathOf('agents', id)}/status`, { status, reason }), output)
      }),
    operatorCommand(
      'certify',
      'Set the certification status of an agent',
      'agent certify agent_planner certified',
    )
      .argument('<agent_id>', 'id of the agent')
      .argument(
        '[status]',
        'uncertified, pending, certified, expired, revoked, or what the profile lists (O-05)',
        'certified',
      )
      .addOption(optionalReasonOption())
      .action(async (id: string, status: string, { reason, ...output }: Partial<Reasoned>) => {
        show(await change(`${pathOf('agents', id)}/certification`, { status, reason }), output)
      }),
  ]
}
