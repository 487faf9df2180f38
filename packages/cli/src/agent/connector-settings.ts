import { renameSync, rmSync, statSync } from 'node:fs'
import { validatorFor } from '@agent-exchange/protocol'
import type { AgentFolder } from '@agent-exchange/sdk/node'
import { CommandFailure } from '../failure.ts'
import { readJson } from '../read-json.ts'
import { writeContent } from './content-file.ts'
import { folderStep, type Place } from './next-step.ts'

/** Partners that a folder can hold. */
const MOST_PARTNERS = 1_000
const MOST_ALLOWED = 100
const OTHERS = 0o077

/** The server from which the agent's data plane fetches. */
export interface DataAddressSettings {
  readonly host: string
  readonly port: number
  /** Address for the data plane, if it differs. */
  readonly url?: string
  readonly cert_file?: string
  readonly key_file?: string
  readonly allow?: readonly string[]
}

export interface Partner {
  readonly participant_id: string
  readonly protocol_url: string
}

/** Connector settings of an agent's folder. They contain the key of the management API. */
export interface ConnectorSettings {
  readonly version: 1
  readonly connector_id: string
  readonly participant_id: string
  readonly management_url: string
  readonly protocol_url: string
  readonly api_key: string
  readonly api_key_header: string
  readonly version_url?: string
  readonly protocol?: string
  readonly access_property?: string
  readonly ca_file?: string
  /** Partners' data planes may have private addresses. */
  readonly allow_private_data_planes?: boolean
  readonly data_address: DataAddressSettings
  /** By organization id. */
  readonly partners: Readonly<Record<string, Partner>>
}

const text = { type: 'string', minLength: 1, maxLength: 4_096 }
const settings = validatorFor<ConnectorSettings>(
  {
    type: 'object',
    additionalProperties: false,
    required: [
      'version',
      'connector_id',
      'participant_id',
      'management_url',
      'protocol_url',
      'api_key',
      'api_key_header',
      'data_address',
      'partners',
    ],
    properties: {
      version: { const: 1 },
      connector_id: text,
      participant_id: text,
      management_url: text,
      protocol_url: text,
      api_key: text,
      api_key_header: text,
      version_url: text,
      protocol: text,
      access_property: text,
      ca_file: text,
      allow_private_data_planes: { type: 'boolean' },
      data_address: {
        type: 'object',
        additionalProperties: false,
        required: ['host', 'port'],
        properties: {
          host: text,
          port: { type: 'integer', minimum: 1, maximum: 65_535 },
          url: text,
          cert_file: text,
          key_file: text,
          allow: { type: 'array', maxItems: MOST_ALLOWED, items: text },
        },
      },
      partners: {
        type: 'object',
        maxProperties: MOST_PARTNERS,
        additionalProperties: {
          type: 'object',
          additionalProperties: false,
          required: ['participant_id', 'protocol_url'],
          properties: { participant_id: text, protocol_url: text },
        },
      },
    },
  },
  'CLI',
)

/** Undefined if no connector is set. */
export async function readConnector({ files }: AgentFolder): Promise<ConnectorSettings | undefined> {
  const file = files.connector
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) return undefined
  if (process.platform !== 'win32' && (found.mode & OTHERS) !== 0)
    throw new CommandFailure(
      `${file} contains a key that other users can read. Run: chmod 600 ${file}; and change the key.`,
    )
  const read = await readJson(file)
  if (!read.ok) throw new CommandFailure(`${file} ${read.reason}`)
  if (settings.accepts(read.value)) return read.value
  throw new CommandFailure(`${file} does not hold the settings of a connector. Set it again.`)
}

/** Written atomically; only its owner can read it. */
export function writeConnector({ files }: AgentFolder, value: ConnectorSettings): void {
  if (!settings.accepts(value))
    throw new CommandFailure(
      `A value is empty or too long, or there are more than ${MOST_PARTNERS} partners or ${MOST_ALLOWED} allowed addresses.`,
    )
  const draft = `${files.connector}.new`
  writeContent(draft, JSON.stringify(value, undefined, 2))
  renameSync(draft, files.connector)
}

export function removeConnector({ files }: AgentFolder): void {
  rmSync(files.connector, { force: true })
}

/** The settings; fails if there are none. */
export async function requireConnector(folder: AgentFolder, place: Place): Promise<ConnectorSettings> {
  const found = await readConnector(folder)
  if (found) return found
  throw new CommandFailure(
    `No connector is set in ${folder.folder}. See: ${folderStep(place, 'connector', 'set', '--help')}`,
  )
}
