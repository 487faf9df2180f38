import { Option, type Command } from 'commander'
import { pathOf, read } from './operator-api.ts'
import {
  group,
  list,
  listCommand,
  operatorCommand,
  organizationOption,
  type ListOptions,
  type OutputOptions,
} from './operator-command.ts'
import { description, table } from './table.ts'

const COLUMNS = ['delivery_id', 'state', 'attempt', 'organization_id', 'webhook_endpoint_id', 'created_at']
const STATES = ['dead', 'failed', 'pending', 'delivered']

export function deliveryCommand(): Command {
  return group('delivery', 'Webhook deliveries', [
    listCommand(
      'list',
      'List deliveries, the newest first',
      'delivery list --state dead',
      'delivery list --org org_acme --json',
    )
      .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
      .addOption(organizationOption())
      .action((options: ListOptions & { org?: string; state?: string }) =>
        list('/deliveries', { organization_id: options.org, state: options.state }, COLUMNS, options),
      ),
    operatorCommand('show', 'Show a delivery with all its attempts and replays', 'delivery show dlv_4f…')
      .argument('<delivery_id>', 'id, as in the header svc-delivery-id')
      .action(async (id: string, { json }: OutputOptions) => {
        const { attempts, replays, ...delivery } = await read(pathOf('deliveries', id))
        if (json) console.log(JSON.stringify({ ...delivery, attempts, replays }, undefined, 2))
        else print(delivery, attempts, replays)
      }),
  ])
}

function print(delivery: object, attempts: unknown, replays: unknown): void {
  console.log(description(delivery))
  const parts: [string, unknown, string[]][] = [
    ['Attempts', attempts, ['attempt', 'started_at', 'outcome', 'details']],
    ['Replays', replays, ['delivery_id', 'state', 'created_at', 'replay_actor', 'replay_reason']],
  ]
  for (const [title, rows, columns] of parts) {
    if (Array.isArray(rows) && rows.length > 0) console.log(`\n${title}\n${table(rows as object[], columns)}`)
  }
}
