import { Option, type Command } from 'commander'
import { deliveryReport, type ShownDelivery } from './delivery-report.ts'
import { replayCommand } from './delivery-replay.ts'
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
import { endpointOption, sinceOption, untilOption } from './time-option.ts'

const COLUMNS = [
  'delivery_id',
  'state',
  'attempt',
  'last_error',
  'organization_id',
  'webhook_endpoint_id',
  'created_at',
]
const STATES = ['dead', 'failed', 'pending', 'delivered']

interface DeliveryListOptions extends ListOptions {
  readonly state?: string
  readonly org?: string
  readonly endpoint?: string
  readonly since?: string
  readonly until?: string
}

export function deliveryCommand(): Command {
  return group('delivery', 'Webhook deliveries', [
    listCommand(
      'list',
      'List deliveries, newest first, with the result of the last attempt that failed',
      'delivery list --state failed',
      'delivery list --state dead',
      'delivery list --org org_acme --since 24h --json',
    )
      .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
      .addOption(organizationOption())
      .addOption(endpointOption())
      .addOption(sinceOption())
      .addOption(untilOption())
      .action(({ org, endpoint, state, since, until, ...options }: DeliveryListOptions) => {
        const query = { organization_id: org, webhook_endpoint_id: endpoint, state, since, until }
        return list('/deliveries', query, COLUMNS, options, rowOf)
      }),
    operatorCommand(
      'show',
      'Show why a delivery failed, all its attempts, when the next one is due, and its replays',
      'delivery show dlv_4f…',
    )
      .argument('<delivery_id>', 'id, as in the header svc-delivery-id')
      .action(async (id: string, { json }: OutputOptions) => {
        const delivery = await read(pathOf('deliveries', id))
        console.log(
          json
            ? JSON.stringify(delivery, undefined, 2)
            : deliveryReport(delivery as unknown as ShownDelivery),
        )
      }),
    replayCommand(),
  ])
}

/** A delivery whose last attempt failed is not merely pending. */
function rowOf(delivery: { readonly state?: string; readonly last_error?: string }): object {
  const isRetried = delivery.state === 'pending' && delivery.last_error !== undefined
  return isRetried ? { ...delivery, state: 'pending, retrying' } : delivery
}
