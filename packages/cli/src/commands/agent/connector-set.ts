import { resolve } from 'node:path'
import { openAgentFolder } from '@agent-exchange/sdk/internal/node'
import { Option, type Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import {
  readConnector,
  writeConnector,
  type ConnectorSettings,
  type DataAddressSettings,
} from '../../agent/connector-settings.ts'
import { startDataAddress } from '../../agent/data-address.ts'
import { connectorOf } from '../../agent/folder-connector.ts'
import { nextStep } from '../../agent/next-step.ts'
import { CommandFailure } from '../../failure.ts'
import { secretFrom } from '../../secret-file.ts'
import { visible, visibleJson } from '../../visible.ts'
import { wholeNumber } from '../../whole-number.ts'

const DEFAULT_DATA_PORT = 8085

interface SetOptions extends AgentOptions {
  readonly connector: string
  readonly participant: string
  readonly managementUrl: string
  readonly protocolUrl: string
  readonly apiKeyFile?: string
  readonly apiKeyHeader: string
  readonly versionUrl?: string
  readonly protocol?: string
  readonly accessProperty?: string
  readonly connectorCa?: string
  readonly allowPrivateDataPlanes?: boolean
  readonly dataHost: string
  readonly dataPort: number
  readonly dataUrl?: string
  readonly dataCert?: string
  readonly dataKey?: string
  readonly dataAllow?: readonly string[]
}

export function connectorSetCommand(): Command {
  return folderCommandOf(
    'set',
    'Set the connector of the agent; settings and key are stored in the folder',
    'connector set --connector edc-seats --participant BPNL0000000SEATS \\\n' +
      '      --management-url https://edc.seats.example/management --protocol-url https://edc.seats.example/protocol \\\n' +
      '      --api-key-file ./edc-key',
  )
    .requiredOption('--connector <id>', 'its connector_id, as the operator of the exchange approved it')
    .requiredOption('--participant <id>', 'its participant id in the data space')
    .requiredOption('--management-url <url>', 'management API, up to and not including /v3')
    .requiredOption('--protocol-url <url>', 'its protocol endpoint, as others reach it')
    .option('--api-key-file <file>', 'file with the key of the management API (or AEX_CONNECTOR_API_KEY)')
    .option('--api-key-header <name>', 'header that carries the key', 'x-api-key')
    .option('--version-url <url>', 'address of its version API')
    .option('--protocol <name>', 'protocol, if not dataspace-protocol-http')
    .option(
      '--access-property <iri>',
      "left operand that admits one participant (default: Tractus-X's number)",
    )
    .option('--connector-ca <file>', 'PEM file with a private certificate authority of connectors')
    .option(
      '--allow-private-data-planes',
      'fetch from data planes of partners at private and loopback addresses: a private network, development',
    )
    .option('--data-host <address>', 'where the data address listens for the data plane', '127.0.0.1')
    .addOption(
      new Option('--data-port <port>', 'port of the data address')
        .argParser(wholeNumber(1, 65_535, 'a port'))
        .default(DEFAULT_DATA_PORT),
    )
    .option('--data-url <url>', 'address for the data plane, if it differs')
    .option('--data-cert <file>', 'TLS certificate of that address, PEM; needed beyond loopback')
    .option('--data-key <file>', 'its private key, PEM')
    .option('--data-allow <address...>', 'only these addresses or subnets are answered')
    .addHelpText('after', '\nPartners that were named before are kept.')
    .action(set)
}

async function set(options: SetOptions): Promise<void> {
  const { dir } = options
  const folder = await explained({ dir }, () => openAgentFolder(dir))
  const before = await readConnector(folder)
  const settings = settingsOf(options, before?.partners ?? {})
  // Validates everything before storing anything.
  await connectorOf(settings)
  const dataAddress = await startDataAddress(settings.data_address, folder.files.outgoing)
  await dataAddress?.close()
  writeConnector(folder, settings)
  if (options.json)
    return console.log(visibleJson({ connector_id: settings.connector_id, file: folder.files.connector }))
  console.log(`${visible(settings.connector_id)} is the connector of ${folder.identity.agentId}`)
  const step = (...words: string[]) => nextStep({ dir }, ...words)
  console.log(
    `  name a partner     ${step('connector', 'partner', 'ORG_ID', '--participant', 'ID', '--protocol-url', 'URL')}`,
  )
  console.log(`  check it           ${step('connector', 'check')}`)
  console.log(`  update the agent   ${step('register')}`)
  console.log(`  keep running       ${step('data-address')}`)
}

function settingsOf(options: SetOptions, partners: ConnectorSettings['partners']): ConnectorSettings {
  const { versionUrl, protocol, accessProperty, connectorCa } = options
  const key = secretFrom('management API key', options.apiKeyFile, 'AEX_CONNECTOR_API_KEY')
  if (key === undefined)
    throw new CommandFailure(
      'The key of the management API is missing. Give --api-key-file FILE or set AEX_CONNECTOR_API_KEY.',
    )
  return {
    version: 1,
    connector_id: options.connector,
    participant_id: options.participant,
    management_url: options.managementUrl,
    protocol_url: options.protocolUrl,
    api_key: key,
    api_key_header: options.apiKeyHeader,
    ...(versionUrl !== undefined && { version_url: versionUrl }),
    ...(protocol !== undefined && { protocol }),
    ...(accessProperty !== undefined && { access_property: accessProperty }),
    ...(connectorCa !== undefined && { ca_file: resolve(connectorCa) }),
    ...(options.allowPrivateDataPlanes && { allow_private_data_planes: true }),
    data_address: dataAddressOf(options),
    partners,
  }
}

function dataAddressOf(options: SetOptions): DataAddressSettings {
  const {
    dataHost: host,
    dataPort: port,
    dataUrl: url,
    dataCert: cert,
    dataKey: key,
    dataAllow: allow,
  } = options
  if ((cert === undefined) !== (key === undefined))
    throw new CommandFailure('Give both --data-cert and --data-key, or neither on loopback.')
  if (['0.0.0.0', '::'].includes(host) && url === undefined)
    throw new CommandFailure(`Nobody can call ${host}. Give --data-url, as the data plane reaches it.`)
  return {
    host,
    port,
    ...(url !== undefined && { url }),
    ...(cert !== undefined && key !== undefined && { cert_file: resolve(cert), key_file: resolve(key) }),
    ...(allow && { allow }),
  }
}
