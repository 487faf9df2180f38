import type { Command } from 'commander'
import { connectorDoctorCommand } from './connector-doctor.ts'
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

const COLUMNS = ['organization_id', 'connector_id', 'participant_id', 'status', 'endpoint', 'updated_at']

interface ConnectorOptions extends OutputOptions {
  readonly org: string
  readonly connector: string
}

export function connectorCommand(): Command {
  return group('connector', 'Data-space connectors of organizations', [
    approveCommand(),
    listCommand('list', 'List connector connections', 'connector list --org org_acme')
      .addOption(organizationOption())
      .action((options: ListOptions & { org?: string }) =>
        list('/connectors', { organization_id: options.org }, COLUMNS, options),
      ),
    statusCommand('suspend', 'Stop transfers through a connector until it is approved again'),
    statusCommand('revoke', 'Withdraw the approval of a connector'),
    connectorDoctorCommand(),
  ])
}

function approveCommand(): Command {
  return operatorCommand(
    'approve',
    'Approve a connector; if both organizations have one, new threads use ds_x',
    'connector approve --org org_acme --connector edc-1 --participant BPNL000000000001 --endpoint https://edc.acme.example',
  )
    .requiredOption('--org <org_id>', 'the organization that runs it')
    .requiredOption('--connector <id>', 'its connector_id in package manifests')
    .requiredOption('--participant <id>', 'its participant id in the data space')
    .requiredOption('--endpoint <url>', 'its protocol address')
    .option('--reason <text>', 'why, for the operator log; required after a revocation')
    .action(
      async ({ org, connector, participant, endpoint, reason, ...output }: ConnectorOptions & Approval) => {
        const body = {
          organization_id: org,
          connector_id: connector,
          participant_id: participant,
          endpoint,
          ...(reason !== undefined && { reason }),
        }
        show(await change('/connectors', body), output)
      },
    )
}

interface Approval {
  readonly participant: string
  readonly endpoint: string
  readonly reason?: string
}

function statusCommand(verb: 'suspend' | 'revoke', summary: string): Command {
  return operatorCommand(
    verb,
    summary,
    `connector ${verb} --org org_acme --connector edc-1 --reason "key lost"`,
  )
    .requiredOption('--org <org_id>', 'the organization that runs it')
    .requiredOption('--connector <id>', 'its connector_id')
    .addOption(reasonOption())
    .action(async ({ org, connector, reason, ...output }: ConnectorOptions & { reason: string }) => {
      const path = pathOf('organizations', org, 'connectors', connector)
      show(await change(`${path}/${verb}`, { reason }), output)
    })
}
