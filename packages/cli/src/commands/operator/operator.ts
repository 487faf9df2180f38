import { Option, type Command } from 'commander'
import { change, pathOf } from './operator-api.ts'
import {
  group,
  list,
  listCommand,
  operatorCommand,
  reasonOption,
  show,
  type ListOptions,
  type OutputOptions,
} from './operator-command.ts'

export function operatorsCommand(): Command {
  return group('operator', 'Operators of the exchange, and the log of their changes', [
    operatorCommand(
      'create',
      'Create an operator and print its token once, for AEX_OPERATOR_TOKEN',
      'operator create alice',
      'operator create alice --json',
    )
      .argument('<name>', 'name in the log: lower-case letters, digits, ., _ and -')
      .action(async (name: string, output: OutputOptions) => {
        show(await change('/operators', { name }), output)
      }),
    listCommand('list', 'List operators', 'operator list').action((options: ListOptions) =>
      list('/operators', {}, ['name', 'status', 'created_at', 'disabled_at'], options),
    ),
    operatorCommand(
      'disable',
      'Disable an operator, effective with the next request',
      'operator disable alice --reason "left the team"',
    )
      .argument('<name>', 'name of the operator')
      .addOption(reasonOption())
      .action(async (name: string, { reason, ...output }: OutputOptions & { reason: string }) => {
        show(await change(`${pathOf('operators', name)}/disable`, { reason }), output)
      }),
    logCommand(),
  ])
}

function logCommand(): Command {
  return listCommand(
    'log',
    'Show changes by operators, newest first',
    'operator log --limit 20',
    'operator log --target org_acme',
  )
    .addOption(new Option('--target <id>', 'only changes of this object'))
    .action((options: ListOptions & { target?: string }) => {
      const columns = ['entry', 'recorded_at', 'actor', 'action', 'target', 'reason']
      return list('/log', { target: options.target }, columns, options)
    })
}
