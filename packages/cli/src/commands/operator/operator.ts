import { Argument, Option, type Command } from 'commander'
import { aexStep } from '../../next-step.ts'
import { change, pathOf } from './operator-api.ts'
import {
  group,
  list,
  listCommand,
  operatorCommand,
  optionalReasonOption,
  reasonOption,
  show,
  type ListOptions,
  type OutputOptions,
} from './operator-command.ts'

const ROLES = ['viewer', 'operator', 'administrator']
const DEFAULT_ROLE = 'administrator'
const ROLE_MEANING = 'viewer reads, operator changes, administrator also manages operators and keys'
const roleOption = () => new Option('--role <role>', ROLE_MEANING).choices(ROLES)

export function operatorsCommand(): Command {
  return group('operator', 'Operators of the exchange, and the log of their changes', [
    operatorCommand(
      'create',
      'Create an operator and print its token once, for AEX_OPERATOR_TOKEN',
      'operator create alice --role operator',
      'operator create monitoring --role viewer --json',
    )
      .argument('<name>', 'name in the log: lower-case letters, digits, ., _ and -')
      .addOption(roleOption().default(DEFAULT_ROLE))
      .action(
        async (name: string, { role, ...output }: OutputOptions & { role: string }, command: Command) => {
          show(await change('/operators', { name, role }), output)
          if (command.getOptionValueSource('role') === 'default') console.error(defaultRoleNote(name))
        },
      ),
    operatorCommand(
      'set-role',
      'Change what an operator may do, effective with the next request',
      'operator set-role alice viewer --reason "moved to another team"',
    )
      .argument('<name>', 'name of the operator')
      .addArgument(new Argument('<role>', ROLE_MEANING).choices(ROLES))
      .addOption(optionalReasonOption())
      .action(
        async (name: string, role: string, { reason, ...output }: OutputOptions & { reason?: string }) => {
          show(await change(`${pathOf('operators', name)}/role`, { role, reason }), output)
        },
      ),
    listCommand('list', 'List operators', 'operator list').action((options: ListOptions) =>
      list('/operators', {}, ['name', 'role', 'status', 'created_at', 'disabled_at'], options),
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
    ...sessionCommands(),
    logCommand(),
  ])
}

function defaultRoleNote(name: string): string {
  const less = aexStep('operator', 'set-role', name, 'operator')
  return `Without --role, ${name} got the role ${DEFAULT_ROLE}, which may do everything. To give it less: ${less}`
}

interface LogFilter {
  readonly actor?: string
  readonly action?: string
  readonly target?: string
}

function sessionCommands(): Command[] {
  return [
    listCommand('sessions', 'List browser sessions of the console', 'operator sessions').action(
      (options: ListOptions) => {
        const columns = ['session_id', 'operator_name', 'role', 'signed_in_by', 'created_at', 'last_seen_at']
        return list('/sessions', {}, columns, options)
      },
    ),
    operatorCommand(
      'end-session',
      'End a browser session, effective with its next request',
      'operator end-session session_4f… --reason "laptop lost"',
    )
      .argument('<session_id>', 'id of the session')
      .addOption(reasonOption())
      .action(async (id: string, { reason, ...output }: OutputOptions & { reason: string }) => {
        show(await change(`${pathOf('sessions', id)}/revoke`, { reason }), output)
      }),
  ]
}

function logCommand(): Command {
  return listCommand(
    'log',
    'Show changes by operators, newest first',
    'operator log --limit 20',
    'operator log --target org_acme',
  )
    .addOption(new Option('--actor <name>', 'only changes by this operator'))
    .addOption(new Option('--action <name>', 'only this kind of change, such as operator.create'))
    .addOption(new Option('--target <id>', 'only changes of this object'))
    .action(({ actor, action, target, ...options }: ListOptions & LogFilter) => {
      const columns = ['entry', 'recorded_at', 'actor', 'action', 'target', 'reason']
      return list('/log', { actor, action, target }, columns, options)
    })
}
