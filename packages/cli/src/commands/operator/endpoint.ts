import type { Command, Option } from 'commander'
import { change, pathOf } from './operator-api.ts'
import {
  group,
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

const COLUMNS = ['webhook_endpoint_id', 'organization_id', 'status', 'status_reason', 'url']

export function endpointCommand(): Command {
  return group('endpoint', 'Webhook endpoints', [
    listCommand('list', 'List webhook endpoints, with why one was disabled', 'endpoint list --org org_acme')
      .addOption(organizationOption())
      .action((options: ListOptions & { org?: string }) =>
        list('/endpoints', { organization_id: options.org }, COLUMNS, options),
      ),
    statusCommand('enable', 'Deliver to a disabled endpoint again', optionalReasonOption()),
    statusCommand('disable', 'Stop delivering to an endpoint; its notifications stay', reasonOption()),
    statusCommand('delete', 'Remove an endpoint for good', optionalReasonOption()),
  ])
}

function statusCommand(verb: 'enable' | 'disable' | 'delete', summary: string, reason: Option): Command {
  return operatorCommand(verb, summary, `endpoint ${verb} wh_4f… --reason "receiver moved"`)
    .argument('<webhook_endpoint_id>', 'id of the endpoint')
    .addOption(reason)
    .action(async (id: string, options: OutputOptions & { reason?: string }) => {
      show(await change(`${pathOf('endpoints', id)}/${verb}`, { reason: options.reason }), options)
    })
}
