import type { Command } from 'commander'
import { credentialFrom, type CredentialOptions } from './credential-file.ts'
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

const COLUMNS = ['client_id', 'organization_id', 'agent_id', 'authentication', 'status', 'created_at']

export function clientCommand(): Command {
  return group('client', 'OAuth 2.0 clients of organizations', [
    createCommand(),
    listCommand('list', 'List clients', 'client list --org org_acme', 'client list --json')
      .addOption(organizationOption())
      .action((options: ListOptions & { org?: string }) =>
        list('/clients', { organization_id: options.org }, COLUMNS, options),
      ),
    operatorCommand(
      'disable',
      'Disable a client, effective with its next request',
      'client disable client_4f… --reason "laptop lost"',
    )
      .argument('<client_id>', 'id of the client')
      .addOption(reasonOption())
      .action(async (id: string, { reason, ...output }: OutputOptions & { reason: string }) => {
        show(await change(`${pathOf('clients', id)}/disable`, { reason }), output)
      }),
    rotateCommand(),
  ])
}

interface CreateOptions extends OutputOptions, CredentialOptions {
  readonly org: string
  readonly agent?: string
}

function createCommand(): Command {
  const command = operatorCommand(
    'create',
    'Create a client that gets access tokens for an organization, or for one of its agents',
    'client create --org org_acme --jwk public.jwk.json',
    'client create --org org_acme --agent agent_planner --certificate client.pem',
    'client create --org org_acme --tls-san-dns planner.acme.example --json',
  )
    .requiredOption('--org <org_id>', 'organization of the client')
    .option('--agent <agent_id>', 'the only agent that it acts as')
  return withCredential(command).action(async ({ org, agent, json, ...options }: CreateOptions) => {
    const credential = await credentialFrom(options)
    const body = { organization_id: org, ...(agent !== undefined && { agent_id: agent }), ...credential }
    show(await change('/clients', body), { json: json ?? false })
  })
}

function rotateCommand(): Command {
  const command = operatorCommand(
    'rotate',
    'Replace the credential of a client; the old one and its access tokens stop working',
    'client rotate client_4f… --jwk new-public.jwk.json',
  )
    .argument('<client_id>', 'id of the client')
    .addOption(optionalReasonOption())
  return withCredential(command).action(
    async (
      id: string,
      { reason, json, ...options }: OutputOptions & CredentialOptions & { reason?: string },
    ) => {
      const credential = await credentialFrom(options)
      show(await change(`${pathOf('clients', id)}/rotate`, { ...credential, reason }), {
        json: json ?? false,
      })
    },
  )
}

function withCredential(command: Command): Command {
  return command
    .option('--jwk <file>', 'public JWK for private_key_jwt (P-256); - reads standard input')
    .option('--certificate <file>', 'PEM certificate for self_signed_tls_client_auth')
    .option('--tls-san-dns <name>', 'DNS name in the certificate, for tls_client_auth')
}
