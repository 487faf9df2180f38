import { InvalidArgumentError, Option, type Command } from 'commander'
import { aexStep } from '../../next-step.ts'
import { visible } from '../../visible.ts'
import { change, pathOf } from './operator-api.ts'
import {
  group,
  list,
  listCommand,
  operatorCommand,
  organizationOption,
  reasonOption,
  show,
  type ListOptions,
  type OutputOptions,
} from './operator-command.ts'

const COLUMNS = [
  'invitation_id',
  'organization_id',
  'agent_id',
  'state',
  'expires_at',
  'created_by',
  'used_at',
  'used_agent_id',
  'client_id',
]
const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const
const DURATION = /^(\d{1,7})([smhd])$/u

interface CreateOptions extends OutputOptions {
  readonly org: string
  readonly agent?: string
  readonly expires: number
}

export function inviteCommand(): Command {
  return group('invite', 'Invitations to join the exchange', [
    operatorCommand(
      'create',
      'Create an invitation and print it once; one agent joins with it',
      'invite create --org org_acme',
      'invite create --org org_acme --agent agent_planner --expires 7d',
    )
      .requiredOption('--org <org_id>', 'organization that the agent belongs to')
      .option('--agent <agent_id>', 'the only agent that may join; needed for an agent that is registered')
      .addOption(
        new Option('--expires <duration>', 'how long it can be used, such as 30m, 24h or 7d; at most 30d')
          .argParser(seconds)
          .default(UNIT_SECONDS.d, '24h'),
      )
      .action(create),
    listCommand('list', 'List invitations, newest first, and who used them', 'invite list --org org_acme')
      .addOption(organizationOption())
      .action((options: ListOptions & { org?: string }) =>
        list('/invitations', { organization_id: options.org }, COLUMNS, options),
      ),
    operatorCommand(
      'revoke',
      'Revoke an invitation that nobody has used',
      'invite revoke invitation_0198… --reason "sent to the wrong address"',
    )
      .argument('<invitation_id>', 'id of the invitation')
      .addOption(reasonOption())
      .action(async (id: string, { reason, ...output }: OutputOptions & { reason: string }) => {
        show(await change(`${pathOf('invitations', id)}/revoke`, { reason }), output)
      }),
  ])
}

async function create({ org, agent, expires, json }: CreateOptions): Promise<void> {
  const answer = await change('/invitations', {
    organization_id: org,
    expires_in_seconds: expires,
    ...(agent !== undefined && { agent_id: agent }),
  })
  if (json) return show(answer, { json })
  // Standard output is the invitation alone, so that it can be piped.
  console.log(visible(String(answer['invitation'])))
  console.error(`\nSend this to the developer of the agent, over a channel that you trust. It works once,`)
  console.error(`until ${visible(String(answer['expires_at']))}, and is not shown again. The developer runs:`)
  console.error(`  ${aexStep('agent', 'join', 'INVITATION')}`)
}

function seconds(text: string): number {
  const [, count, unit] = DURATION.exec(text) ?? []
  if (count !== undefined) return Number(count) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS]
  throw new InvalidArgumentError('Give a duration such as 30m, 24h or 7d.')
}
