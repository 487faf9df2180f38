import type { Command } from 'commander'
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

const COLUMNS = ['webhook_endpoint_id', 'organization_id', 'status', 'status_reason', 'url']

export function endpointCommand(): Command {
  return group('endpoint', 'Webhook endpoints', [
    listCommand('list', 'List webhook endpoints, with why one was disabled', 'endpoint list --org org_acme')
      .addOption(organizationOption())
      .action((options: ListOptions & { org?: string }) =>
        list('/endpoints', { organization_id: options.org }, COLUMNS, options),
      ),
    statusCommand('enable', 'Deliver to a disabled endpoint again'),
    statusCommand('disable', 'Stop delivering to an endpoint; its notifications stay in the stream'),
    statusCommand('delete', 'Remove an endpoint for good'),
  ])
}

function statusCommand(verb: 'enable' | 'disable' | 'delete', summary: string): Command {
  return operatorCommand(verb, summary, `endpoint ${verb} wh_4f… --reason "receiver moved"`)
    .argument('<webhook_endpoint_id>', 'id of the endpoint')
    .addOption(reasonOption())
    .action(async (id: string, { reason, ...output }: OutputOptions & { reason: string }) => {
      show(await change(`${pathOf('endpoints', id)}/${verb}`, { reason }), output)
    })
}
