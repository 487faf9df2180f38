import { renameSync, rmSync, statSync } from 'node:fs'
import { shapeValidator, type Shape } from '@agent-exchange/protocol'
import type { AgentFolder } from '@agent-exchange/sdk/node'
import { Type } from 'typebox'
import { CommandFailure } from '../failure.ts'
import { readJson } from '../read-json.ts'
import { writeContent } from './content-file.ts'
import { folderStep, type Place } from './next-step.ts'

/** Partners that a folder can hold. */
const MOST_PARTNERS = 1_000
const MOST_ALLOWED = 100
const OTHERS = 0o077

const text = Type.String({ minLength: 1, maxLength: 4_096 })
const CLOSED = { additionalProperties: false }

/** The server from which the agent's data plane fetches. */
const dataAddress = Type.Object(
  {
    host: text,
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    /** Address for the data plane, if it differs. */
    url: Type.Optional(text),
    cert_file: Type.Optional(text),
    key_file: Type.Optional(text),
    allow: Type.Optional(Type.Array(text, { maxItems: MOST_ALLOWED })),
  },
  CLOSED,
)
export type DataAddressSettings = Shape<typeof dataAddress>

const partner = Type.Object({ participant_id: text, protocol_url: text }, CLOSED)
export type Partner = Shape<typeof partner>

/** Connector settings of an agent's folder. They contain the key of the management API. */
const connectorSettings = Type.Object(
  {
    version: Type.Literal(1),
    connector_id: text,
    participant_id: text,
    management_url: text,
    protocol_url: text,
    api_key: text,
    api_key_header: text,
    version_url: Type.Optional(text),
    protocol: Type.Optional(text),
    access_property: Type.Optional(text),
    ca_file: Type.Optional(text),
    /** Partners' data planes may have private addresses. */
    allow_private_data_planes: Type.Optional(Type.Boolean()),
    data_address: dataAddress,
    /** By organization id. */
    partners: Type.Unsafe<Record<string, Partner>>({
      type: 'object',
      maxProperties: MOST_PARTNERS,
      additionalProperties: partner,
    }),
  },
  CLOSED,
)
export type ConnectorSettings = Shape<typeof connectorSettings>
const settings = shapeValidator(connectorSettings, 'CLI')

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
