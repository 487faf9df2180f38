import { organizationId, validatorOf } from '@agent-exchange/protocol'
import { openAgentFolder } from '@agent-exchange/sdk/internal/node'
import { Option, type Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { checkConnector } from '../../agent/check-connector.ts'
import {
  removeConnector,
  requireConnector,
  writeConnector,
  type ConnectorSettings,
  type Partner,
} from '../../agent/connector-settings.ts'
import { counterPartyOf } from '../../agent/folder-connector.ts'
import { nextStep } from '../../agent/next-step.ts'
import { showConnectorChecks } from '../../connector-report.ts'
import { CommandFailure } from '../../failure.ts'
import { visible, visibleJson } from '../../visible.ts'
import { wholeNumber } from '../../whole-number.ts'
import { group } from '../operator/operator-command.ts'
import { connectorSetCommand } from './connector-set.ts'

const DEFAULT_SECONDS = 90
const LONGEST_SECONDS = 3_600

interface PartnerOptions extends AgentOptions {
  readonly participant?: string
  readonly protocolUrl?: string
  readonly remove?: boolean
}

interface CheckOptions extends AgentOptions {
  readonly partner?: string
  readonly dryRun: boolean
  readonly timeout: number
}

export function agentConnectorCommand(): Command {
  return group('connector', "The agent's data-space connector, for threads over ds_x", [
    connectorSetCommand(),
    partnerCommand(),
    checkCommand(),
    folderCommandOf('show', 'Show the settings, without the key', 'connector show').action(show),
    folderCommandOf('remove', 'Remove the connector and the partners', 'connector remove').action(remove),
  ])
}

function partnerCommand(): Command {
  return folderCommandOf(
    'partner',
    'Set the participant id and endpoint of another organization',
    'connector partner org_cars --participant BPNL00000000CARS --protocol-url https://edc.cars.example/protocol',
    'connector partner org_cars --remove',
  )
    .argument('<org_id>', 'the other organization')
    .option('--participant <id>', 'its participant id')
    .option('--protocol-url <url>', 'its protocol endpoint, as your own connector reaches it')
    .option('--remove', 'forget it')
    .action(partner)
}

function checkCommand(): Command {
  return folderCommandOf(
    'check',
    'Check the connector, and send a few bytes through it',
    'connector check',
    'connector check --partner org_cars',
    'connector check --no-dry-run        (checks only, publishes nothing)',
  )
    .option('--partner <org_id>', 'also check the connector of this organization')
    .option('--no-dry-run', 'do not publish, negotiate and fetch a few bytes')
    .addOption(
      new Option('--timeout <seconds>', 'time limit of the whole check')
        .argParser(wholeNumber(1, LONGEST_SECONDS, 'seconds'))
        .default(DEFAULT_SECONDS),
    )
    .action(check)
}

const opened = (dir: string) => explained({ dir }, () => openAgentFolder(dir))

async function partner(id: string, options: PartnerOptions): Promise<void> {
  const { dir, remove: isRemoved = false } = options
  const folder = await opened(dir)
  const settings = await requireConnector(folder, { dir })
  if (!validatorOf(organizationId).accepts(id))
    throw new CommandFailure('An organization id starts with "org_".')
  const { [id]: known, ...others } = settings.partners
  if (isRemoved && !known) throw new CommandFailure(`${id} is not among the partners.`)
  const partners = isRemoved ? others : { ...others, [id]: partnerOf(options) }
  writeConnector(folder, { ...settings, partners })
  if (options.json) return console.log(visibleJson(shownOf({ ...settings, partners })))
  console.log(
    isRemoved ? `${id} is no longer a partner` : `${id} is ${visible(partners[id]?.participant_id ?? '')}`,
  )
}

/** Our connector calls this address, possibly in a private network, so http is allowed. */
function partnerOf({ participant, protocolUrl }: PartnerOptions): Partner {
  if (participant === undefined || protocolUrl === undefined)
    throw new CommandFailure('Give both --participant and --protocol-url, or --remove.')
  if (!['http:', 'https:'].includes(URL.parse(protocolUrl)?.protocol ?? ''))
    throw new CommandFailure('--protocol-url is not an http or https address.')
  return { participant_id: participant, protocol_url: protocolUrl }
}

async function check({ dir, json, partner: id, dryRun, timeout }: CheckOptions): Promise<void> {
  const folder = await opened(dir)
  const settings = await requireConnector(folder, { dir })
  const counterParty = id === undefined ? undefined : counterPartyOf(settings, id)
  if (id !== undefined && !counterParty)
    throw new CommandFailure(
      `${visible(id)} is not among the partners. Run: ${nextStep({ dir }, 'connector', 'partner', id, '--participant', 'ID', '--protocol-url', 'URL')}`,
    )
  const probe = { dryRun, deadlineMs: timeout * 1_000, ...(counterParty && { counterParty }) }
  showConnectorChecks(await checkConnector(folder, settings, probe), { json: json ?? false })
}

/** Of the longest name. */
const WIDTH = 'allow_private_data_planes'.length

async function show({ dir, json }: AgentOptions): Promise<void> {
  const settings = shownOf(await requireConnector(await opened(dir), { dir }))
  if (json) return console.log(visibleJson(settings))
  const { data_address, partners, ...members } = settings
  for (const [name, value] of Object.entries({ ...members, data_address: JSON.stringify(data_address) }))
    console.log(`${name.padEnd(WIDTH)} ${visible(String(value))}`)
  for (const [id, { participant_id, protocol_url }] of Object.entries(partners))
    console.log(`${'partner'.padEnd(WIDTH)} ${visible(`${id}  ${participant_id}  ${protocol_url}`)}`)
}

/** The settings without the key. */
function shownOf(settings: ConnectorSettings) {
  const { api_key: _, version: __, ...shown } = settings
  return shown
}

async function remove({ dir, json }: AgentOptions): Promise<void> {
  const folder = await opened(dir)
  const { connector_id } = await requireConnector(folder, { dir })
  removeConnector(folder)
  if (json) return console.log(visibleJson({ removed: connector_id }))
  console.log(
    `${visible(connector_id)} is removed; sealed bytes that were offered stay in ${folder.files.outgoing}`,
  )
  console.log(`  update the agent   ${nextStep({ dir }, 'register')}`)
}
