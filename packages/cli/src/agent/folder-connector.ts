import type { DataSpace } from '@agent-exchange/sdk'
import type { DataAddressHost, EdcV3Connector, EdcV3Options } from '@agent-exchange/edc'
import type { AgentFolder } from '@agent-exchange/sdk/node'
import { CommandFailure } from '../failure.ts'
import { readPem } from '../pem-file.ts'
import { visible } from '../visible.ts'
import { readConnector, type ConnectorSettings } from './connector-settings.ts'
import { dataAddressUrl, isServing } from './data-address.ts'
import { folderStep, type Place } from './next-step.ts'

/** Another organization's participant. */
export function counterPartyOf({ partners }: ConnectorSettings, organizationId: string) {
  if (!Object.hasOwn(partners, organizationId)) return undefined
  const partner = partners[organizationId]
  return partner && { participantId: partner.participant_id, protocolEndpoint: partner.protocol_url }
}

/** The data space of the folder's settings; undefined if none is set. */
export async function dataSpaceOf(folder: AgentFolder, place: Place): Promise<DataSpace | undefined> {
  const settings = await readConnector(folder)
  if (!settings) return undefined
  const dataAddress = await dataAddressOf(folder, settings, place)
  return {
    connector: await connectorOf(settings, dataAddress),
    participant: async (organizationId) => counterPartyOf(settings, organizationId),
  }
}

/** Publishes into the folder that `aex agent data-address` serves. Warns if it is not running. */
async function dataAddressOf(
  { files }: AgentFolder,
  { data_address: settings }: ConnectorSettings,
  place: Place,
): Promise<DataAddressHost> {
  const { openDataAddressFolder } = await import('@agent-exchange/edc')
  const url = dataAddressUrl(settings)
  const host = await openDataAddressFolder(files.outgoing, url)
  return {
    withdraw: (assetId) => host.withdraw(assetId),
    async put(assetId, bytes) {
      const hosted = await host.put(assetId, bytes)
      if (!(await isServing(settings)))
        console.error(
          `  warning: nothing serves the data address. The recipient cannot fetch the package until this runs: ${folderStep(place, 'data-address')}`,
        )
      return hosted
    },
  }
}

/** The connector of the settings. Invalid settings are a CommandFailure. */
export async function connectorOf(
  settings: ConnectorSettings,
  dataAddress?: DataAddressHost,
): Promise<EdcV3Connector> {
  // Loaded on demand: agents without a connector start faster.
  const sdk = await import('@agent-exchange/edc')
  try {
    return new sdk.EdcV3Connector({ ...optionsOf(settings), ...(dataAddress && { dataAddress }) })
  } catch (error) {
    if (error instanceof sdk.ConnectorError) throw new CommandFailure(visible(error.message))
    throw error
  }
}

function optionsOf(settings: ConnectorSettings): EdcV3Options {
  const { access_property: property, version_url, protocol, ca_file } = settings
  return {
    connectorId: settings.connector_id,
    participantId: settings.participant_id,
    managementUrl: settings.management_url,
    protocolEndpoint: settings.protocol_url,
    auth: { header: settings.api_key_header, value: settings.api_key },
    ...(version_url !== undefined && { versionUrl: version_url }),
    ...(protocol !== undefined && { protocol }),
    ...(ca_file !== undefined && { ca: readPem(ca_file) }),
    allowPrivateDataPlanes: settings.allow_private_data_planes ?? false,
    ...(property !== undefined && {
      accessCondition: (value: string) => ({ property, operator: 'eq', value }),
    }),
  }
}
