import type { Command, Option } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { renamed } from '../../renamed-command.ts'
import { change, pathOf, read } from './operator-api.ts'
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
import { orgConsentCommands } from './org-consent.ts'
import { orgDeleteCommand } from './org-delete.ts'
import { orgExportCommand } from './org-export.ts'

export function orgCommand(): Command {
  return group(
    'org',
    'Organizations of the exchange',
    [
      operatorCommand(
        'create',
        'Create an organization',
        'org create org_acme --name "Acme GmbH" --contact ops@acme.example',
        'org create org_acme --name Acme --json',
      )
        .argument('<org_id>', 'its id: org_ and up to 128 letters, digits, _ or -')
        .requiredOption('--name <text>', 'its name')
        .option('--contact <email>', 'recipient of alerts')
        .action(
          async (
            id: string,
            { name, contact, ...output }: OutputOptions & { name: string; contact?: string },
          ) => {
            show(
              await change('/organizations', { organization_id: id, name, ...(contact && { contact }) }),
              output,
            )
          },
        ),
      listCommand('list', 'List organizations', 'org list', 'org list --json').action(
        (options: ListOptions) =>
          list('/organizations', {}, ['organization_id', 'name', 'status', 'contact', 'created_at'], options),
      ),
      operatorCommand(
        'show',
        'Show an organization: status, quotas and their use',
        'org show org_acme',
        'org show org_acme --json',
      )
        .argument('<org_id>', 'id of the organization')
        .action(async (id: string, output: OutputOptions) => {
          show(await read(pathOf('organizations', id)), output)
        }),
      statusCommand('suspend', 'Refuse every further request of an organization', reasonOption()),
      statusCommand('activate', 'Resume a suspended organization', optionalReasonOption()),
      contactCommand(),
      ...orgConsentCommands(),
      orgExportCommand(),
      orgDeleteCommand(),
    ],
    [renamed(orgDeleteCommand(), 'end', 'aex org delete')],
  )
}

function contactCommand(): Command {
  return operatorCommand(
    'contact',
    'Change the mail address that gets the alerts of an organization',
    'org contact org_acme ops@acme.example',
    'org contact org_acme --none',
  )
    .argument('<org_id>', "id of the organization; alerts about the exchange itself go to the platform's own")
    .argument('[email]', 'the new address')
    .option('--none', 'no address: alerts are listed and logged only')
    .addOption(optionalReasonOption())
    .action(
      async (
        id: string,
        email: string | undefined,
        { none = false, reason, ...output }: OutputOptions & { none?: boolean; reason?: string },
      ) => {
        if ((email === undefined) !== none) throw new CommandFailure('Give an address or --none.')
        show(await change(`${pathOf('organizations', id)}/contact`, { contact: email, reason }), output)
      },
    )
}

function statusCommand(verb: 'suspend' | 'activate', summary: string, reason: Option): Command {
  return operatorCommand(verb, summary, `org ${verb} org_acme --reason "incident 7"`)
    .argument('<org_id>', 'id of the organization')
    .addOption(reason)
    .action(async (id: string, options: OutputOptions & { reason?: string }) => {
      show(await change(`${pathOf('organizations', id)}/${verb}`, { reason: options.reason }), options)
    })
}
