import type { DataAddressServerOptions, DoctorCheck, EdcV3Options } from '@agent-exchange/edc'
import { Option, type Command } from 'commander'
import { showConnectorChecks } from '../../connector-report.ts'
import { CommandFailure } from '../../failure.ts'
import { readPem } from '../../pem-file.ts'
import { secretFrom } from '../../secret-file.ts'
import { visible } from '../../visible.ts'
import { wholeNumber } from '../../whole-number.ts'
import { operatorCommand } from './operator-command.ts'

const DEFAULT_SECONDS = 90
const LONGEST_SECONDS = 3_600

interface DoctorOptions {
  readonly managementUrl: string
  readonly apiKeyFile?: string
  readonly apiKeyHeader: string
  readonly connector: string
  readonly participant: string
  readonly protocolUrl: string
  readonly versionUrl?: string
  readonly protocol?: string
  readonly counterparty?: string
  readonly counterpartyUrl?: string
  readonly ca?: string
  readonly dryRun: boolean
  readonly dataHost: string
  readonly dataPort: number
  readonly dataUrl?: string
  readonly dataCert?: string
  readonly dataKey?: string
  readonly timeout: number
  readonly json?: boolean
}

/** Calls connectors, not the exchange: run it where the agent runs. */
export function connectorDoctorCommand(): Command {
  return operatorCommand(
    'doctor',
    'Check a connector: reachability, versions, ids, data plane, clock, and one dry run',
    'connector doctor --management-url http://127.0.0.1:8181/management --participant BPNL00000000ACME \\\n' +
      '      --protocol-url http://127.0.0.1:8282/api/dsp --api-key-file ./edc-key',
    'connector doctor … --counterparty BPNL00000000BOLT --counterparty-url https://edc.bolt.example/api/dsp',
    'connector doctor … --no-dry-run        (checks only, publishes nothing)',
  )
    .requiredOption('--management-url <url>', 'management API, up to and not including /v3')
    .option('--api-key-file <file>', 'file with the key of the management API (or AEX_CONNECTOR_API_KEY)')
    .option('--api-key-header <name>', 'header that carries the key', 'x-api-key')
    .requiredOption('--participant <id>', 'participant id of the connector')
    .option('--connector <id>', 'its connector_id at the exchange', 'connector_doctor')
    .requiredOption('--protocol-url <url>', 'its protocol endpoint, as others reach it')
    .option('--version-url <url>', 'address of its version API')
    .option('--protocol <name>', 'protocol, if not dataspace-protocol-http')
    .option('--counterparty <id>', 'participant id of the other organization')
    .option('--counterparty-url <url>', 'protocol endpoint of the other organization')
    .option('--ca <file>', 'PEM file with a private certificate authority of connectors')
    .option('--no-dry-run', 'do not publish, negotiate and fetch a few bytes')
    .option('--data-host <address>', 'for the dry run: where to listen for the data plane', '127.0.0.1')
    .addOption(
      new Option('--data-port <port>', 'port of the data address')
        .argParser(wholeNumber(0, 65_535, 'a port'))
        .default(0, 'a free one'),
    )
    .option('--data-url <url>', 'address for the data plane, if it differs')
    .option('--data-cert <file>', 'TLS certificate of that address, PEM; needed beyond loopback')
    .option('--data-key <file>', 'its private key, PEM')
    .addOption(
      new Option('--timeout <seconds>', 'time limit of the whole check')
        .argParser(wholeNumber(1, LONGEST_SECONDS, 'seconds'))
        .default(DEFAULT_SECONDS),
    )
    .action(doctor)
}

async function doctor(options: DoctorOptions): Promise<void> {
  showConnectorChecks(await examine(options), options)
}

async function examine(options: DoctorOptions): Promise<readonly DoctorCheck[]> {
  const { dryRun, timeout } = options
  const counterParty = counterPartyOf(options)
  const settings = settingsOf(options)
  // Loaded on demand: other commands start faster.
  const sdk = await import('@agent-exchange/edc')
  try {
    await using dataAddress = dryRun ? await sdk.startDataAddressServer(dataAddressOf(options)) : undefined
    const connector = new sdk.EdcV3Connector({ ...settings, ...(dataAddress && { dataAddress }) })
    const probe = { dryRun, deadlineMs: timeout * 1_000, ...(counterParty && { counterParty }) }
    return await sdk.examineConnector(connector, probe)
  } catch (error) {
    if (error instanceof sdk.ConnectorError) throw new CommandFailure(visible(error.message))
    throw error
  }
}

function settingsOf(options: DoctorOptions): EdcV3Options {
  const { managementUrl, connector, participant, protocolUrl, apiKeyHeader } = options
  const { versionUrl, protocol, ca } = options
  const value = secretFrom('management API key', options.apiKeyFile, 'AEX_CONNECTOR_API_KEY')
  if (value === undefined)
    throw new CommandFailure(
      'The key of the management API is missing. Give --api-key-file FILE or set AEX_CONNECTOR_API_KEY.',
    )
  return {
    connectorId: connector,
    participantId: participant,
    managementUrl,
    auth: { header: apiKeyHeader, value },
    protocolEndpoint: protocolUrl,
    ...(versionUrl !== undefined && { versionUrl }),
    ...(protocol !== undefined && { protocol }),
    ...(ca !== undefined && { ca: readPem(ca) }),
  }
}

function counterPartyOf({ counterparty, counterpartyUrl }: DoctorOptions) {
  if (counterparty === undefined && counterpartyUrl === undefined) return undefined
  if (counterparty === undefined || counterpartyUrl === undefined)
    throw new CommandFailure('Give both --counterparty and --counterparty-url, or neither.')
  return { participantId: counterparty, protocolEndpoint: counterpartyUrl }
}

function dataAddressOf({
  dataHost,
  dataPort,
  dataUrl,
  dataCert,
  dataKey,
}: DoctorOptions): DataAddressServerOptions {
  if ((dataCert === undefined) !== (dataKey === undefined))
    throw new CommandFailure('Give both --data-cert and --data-key, or neither on loopback.')
  return {
    host: dataHost,
    port: dataPort,
    ...(dataUrl !== undefined && { publicUrl: dataUrl }),
    ...(dataCert !== undefined &&
      dataKey !== undefined && { tls: { cert: readPem(dataCert), key: readPem(dataKey) } }),
  }
}
