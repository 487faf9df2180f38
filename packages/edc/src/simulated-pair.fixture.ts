import {
  MovableClock,
  startSimulator,
  type SimulatedParticipant,
  type SimulatorOptions,
} from '@agent-exchange/edc-simulator'
import type { ConnectorPair } from './contract-suite.fixture.ts'
import { startDataAddressServer, type DataAddressServer } from './data-address-server.ts'
import { EdcV3Connector } from './edc-v3/edc-v3-connector.ts'
import type { EdcV3Options } from './edc-v3/edc-v3-options.ts'

export interface SimulatedPair extends ConnectorPair {
  readonly acme: SimulatedParticipant
  readonly bolt: SimulatedParticipant
  readonly clock: MovableClock
  readonly dataAddress: DataAddressServer
  connector(participant: SimulatedParticipant, options?: Partial<EdcV3Options>): EdcV3Connector
}

/** Acme sends, Bolt receives, and time moves when they wait. */
export async function simulatedPair({
  protocol,
  ...options
}: Partial<SimulatorOptions> & { readonly protocol?: string } = {}): Promise<SimulatedPair> {
  const clock = new MovableClock()
  const participants = [{ participantId: 'BPNL-acme' }, { participantId: 'BPNL-bolt' }]
  const simulator = await startSimulator({ participants, clock, ...options })
  const dataAddress = await startDataAddressServer()
  const [acme, bolt] = [simulator.participant('BPNL-acme'), simulator.participant('BPNL-bolt')]
  const connector = (participant: SimulatedParticipant, changes: Partial<EdcV3Options> = {}) => {
    const { participantId, apiKey, managementUrl, protocolEndpoint, versionUrl } = participant
    const connectorId = `connector_${participantId}`
    const where = { managementUrl, protocolEndpoint, versionUrl }
    return new EdcV3Connector({
      connectorId,
      participantId,
      auth: { apiKey },
      ...where,
      dataAddress,
      clock,
      allowPrivateDataPlanes: true,
      ...(protocol !== undefined && { protocol }),
      ...changes,
    })
  }
  return {
    acme,
    bolt,
    clock,
    dataAddress,
    connector,
    sender: connector(acme),
    recipient: connector(bolt),
    senderParty: { participantId: acme.participantId, protocolEndpoint: acme.protocolEndpoint },
    restart: (who) => connector(who === 'sender' ? acme : bolt),
    count: async (assetId) => ({
      assets: acme.state.assets.has(assetId) ? 1 : 0,
      negotiations: [...bolt.state.negotiations.values()].filter((one) => one.assetId === assetId).length,
      transfers: [...bolt.state.transfers.values()].filter((one) => one.assetId === assetId).length,
    }),
    enforcesAccess: options.enforcesAccess ?? true,
    stuckAfterMs: 60_000,
    [Symbol.asyncDispose]: async () => {
      await simulator.close()
      await dataAddress.close()
    },
  }
}
