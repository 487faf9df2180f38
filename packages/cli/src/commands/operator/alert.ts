import { Option, type Command } from 'commander'
import { group, list, listCommand, organizationOption, type ListOptions } from './operator-command.ts'
import { endpointOption } from './time-option.ts'

const COLUMNS = [
  'alert_id',
  'raised_at',
  'kind',
  'organization_id',
  'webhook_endpoint_id',
  'delivery_id',
  'mail_state',
  'reason',
]
const KINDS = [
  'delivery_dead',
  'delivery_failed',
  'endpoint_disabled',
  'endpoint_failing',
  'log_behind',
  'log_refusing',
  'log_unwitnessed',
  'log_damaged',
  'certificate_expiring',
  'key_expiring',
]

interface AlertListOptions extends ListOptions {
  readonly org?: string
  readonly endpoint?: string
  readonly kind?: string
}

export function alertCommand(): Command {
  return group('alert', 'Alerts about webhook endpoints, the transparency log, certificates and keys', [
    listCommand(
      'list',
      'List alerts, newest first, with the state of their mail',
      'alert list --org org_acme',
      'alert list --kind endpoint_disabled --json',
    )
      .addOption(organizationOption())
      .addOption(endpointOption())
      .addOption(new Option('--kind <kind>', 'only those of this kind').choices(KINDS))
      .action(({ org, endpoint, kind, ...options }: AlertListOptions) =>
        list('/alerts', { organization_id: org, webhook_endpoint_id: endpoint, kind }, COLUMNS, options),
      ),
  ])
}
