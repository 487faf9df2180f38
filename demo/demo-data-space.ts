import type { DataSpace } from '@agent-exchange/sdk'
import {
  EdcV3Connector,
  startDataAddressServer,
  type DataSpaceConnector,
  type FetchOptions,
  type Progress,
} from '@agent-exchange/edc'
import { realTime, startSimulator } from '@agent-exchange/edc-simulator'
import type { Company } from './company.ts'
import type { DemoExchange } from './demo-exchange.ts'
import { short, type Timeline } from './timeline.ts'

type Lane = Company['lane']

/** Participant ids of the demo's organizations. */
const PARTICIPANTS: Readonly<Record<Lane, { organizationId: string; participantId: string }>> = {
  manufacturer: { organizationId: 'org_carmaker', participantId: 'BPNL00000000CARS' },
  supplier: { organizationId: 'org_seats', participantId: 'BPNL0000000SEATS' },
}
/** Interval of the simulated state machines. EDC's default of a second is too slow for a demo. */
const STEP_MS = 40
const LANES = ['manufacturer', 'supplier'] as const

/** The data space of the demo: two simulated connectors, one for each company. */
export interface DemoDataSpace extends AsyncDisposable {
  of(lane: Lane): DataSpace
  /** The operator approves both connectors; from then on new threads between the two use them. */
  approve(exchange: DemoExchange): Promise<void>
}

export async function startDemoDataSpace(timeline: Timeline): Promise<DemoDataSpace> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const participants = LANES.map((lane) => ({ participantId: PARTICIPANTS[lane].participantId }))
  const simulator = await startSimulator({ participants, clock: realTime, stepMs: STEP_MS })
  cleanup.defer(() => simulator.close())
  const spaces = new Map<Lane, DataSpace>()
  for (const lane of LANES) {
    const dataAddress = await startDataAddressServer()
    cleanup.defer(() => dataAddress.close())
    const { participantId } = PARTICIPANTS[lane]
    const { apiKey, managementUrl, protocolEndpoint, versionUrl } = simulator.participant(participantId)
    const connector = new EdcV3Connector({
      connectorId: connectorId(lane),
      participantId,
      auth: { apiKey },
      managementUrl,
      protocolEndpoint,
      versionUrl,
      dataAddress,
      allowPrivateDataPlanes: true,
    })
    spaces.set(lane, {
      connector: shown(connector, lane, timeline),
      participant: async (organizationId) => {
        const found = LANES.find((other) => PARTICIPANTS[other].organizationId === organizationId)
        if (!found) return undefined
        const other = simulator.participant(PARTICIPANTS[found].participantId)
        return { participantId: other.participantId, protocolEndpoint: other.protocolEndpoint }
      },
    })
  }
  const stop = undo.move()
  return {
    of(lane) {
      const space = spaces.get(lane)
      if (!space) throw new Error('no such company')
      return space
    },
    async approve(exchange) {
      for (const lane of LANES) {
        const { organizationId, participantId } = PARTICIPANTS[lane]
        await exchange.operate('/connectors', {
          organization_id: organizationId,
          connector_id: connectorId(lane),
          participant_id: participantId,
          endpoint: 'https://connectors.example/dsp',
        })
      }
      timeline.add({
        who: 'exchange',
        kind: 'decision',
        what: 'the operator approves both connectors',
        detail: 'new threads between the two are ds_x',
      })
    },
    [Symbol.asyncDispose]: () => stop.disposeAsync(),
  }
}

const connectorId = (lane: Lane) => `connector_${lane}`

const STEPS: Readonly<Partial<Record<Progress['step'], string>>> = {
  asset_published: 'its connector lists the sealed bytes as an asset',
  offer_published: 'its connector offers them to one participant',
  offer_found: 'finds the offer in the catalog',
  agreement_reached: 'the contract negotiation is finalized',
  transfer_ready: 'the transfer is started',
  bytes_received: 'the sealed bytes, connector to connector',
  transfer_ended: 'ends the transfer',
}

/** Wraps a connector so that the timeline shows its steps. */
function shown(connector: DataSpaceConnector, lane: Lane, timeline: Timeline): DataSpaceConnector {
  const telling = (options?: FetchOptions) => ({
    ...options,
    onProgress: (progress: Progress) => {
      options?.onProgress?.(progress)
      const what = STEPS[progress.step]
      const id = progress.contractAgreementId ?? progress.transferProcessId ?? progress.assetId
      if (what === undefined) return
      const other = LANES.find((one) => one !== lane) ?? lane
      const where = progress.step === 'bytes_received' ? { who: other, to: lane } : { who: lane }
      timeline.add({ ...where, kind: 'transfer', what, ...(id !== undefined && { detail: short(id) }) })
    },
  })
  return {
    connectorId: connector.connectorId,
    participantId: connector.participantId,
    publish: (request, options) => connector.publish(request, telling(options)),
    acquire: (request, options) => connector.acquire(request, telling(options)),
    fetch: (acquisition, options) => connector.fetch(acquisition, telling(options)),
    finish: (acquisition, options) => connector.finish(acquisition, telling(options)),
    withdraw: (assetId, options) => connector.withdraw(assetId, options),
  }
}
