import assert from 'node:assert/strict'
import { startWorld, type World } from '@agent-exchange/testkit'
import {
  type CounterParty,
  createMemoryOutbox,
  type DataSpace,
  type DataSpaceConnector,
  ExchangeError,
  type ExchangeErrorCode,
  type Outbox,
} from '@agent-exchange/sdk'
import { verifyCapsule } from '@agent-exchange/log'
import {
  MovableClock,
  startSimulator,
  type SimulatedParticipant,
  type SimulatorOptions,
} from '@agent-exchange/edc-simulator'
import { startAgent, type AgentOptions, type TestAgent } from '../../../sdk/src/agents.fixture.ts'
import type { ConnectorErrorCode } from '../connector-error.ts'
import { ConnectorError } from '../connector-error.ts'
import { startDataAddressServer } from '../data-address-server.ts'
import type { DataAddressHost } from '../data-address.ts'
import { EdcV3Connector } from '../edc-v3/edc-v3-connector.ts'
import type { OpenDependencies } from '../../../sdk/src/open/open-input.ts'
import { openPackage } from '../../../sdk/src/open/open-package.ts'
import { readCapsule } from '../../../sdk/src/evidence/read-capsule.ts'
import type { CosigningWitness } from '../../../sdk/src/evidence/cosigning-witness.fixture.ts'
import { randomId } from '../../../sdk/src/connection/random-id.ts'

/** Lets a transfer expire its token, as Tractus-X does. */
export const TOKEN_LIFETIME_MS = 20_000

export interface Company {
  readonly agent: TestAgent
  readonly outbox: Outbox
  readonly dataSpace: DataSpace
  readonly dataAddress: DataAddressHost
  readonly connector: EdcV3Connector
  /** Its connector as the simulator runs it. */
  readonly edc: SimulatedParticipant
}

/** A real exchange, a simulated data space, and companies in both. Time in the data space moves when somebody waits. */
export interface Space extends AsyncDisposable {
  readonly world: World
  readonly clock: MovableClock
  company(name: 'acme' | 'bolt', options?: CompanyOptions): Promise<Company>
  /** The same company after a restart of its program. */
  restart(company: Company, changes?: Partial<Pick<Company, 'dataAddress' | 'outbox'>>): Company
  approve(company: Company): Promise<void>
  stop(company: Company, how: 'suspend' | 'revoke'): Promise<void>
  /** What there is of a package, everywhere. */
  count(packageId: string): Promise<Counts>
}

export interface CompanyOptions extends AgentOptions {
  /** Whether the operator has approved its connector. Defaults to true. */
  readonly approved?: boolean
  readonly dataAddress?: DataAddressHost
  readonly outbox?: Outbox
}

export interface Counts {
  readonly assets: number
  readonly offers: number
  readonly packages: number
  readonly policyReceipts: number
  readonly negotiations: number
  readonly transfers: number
}

/** Evidence starts with a published checkpoint. */
const QUICK_LOG = {
  'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
}

export async function startSpace(
  options: Partial<SimulatorOptions> & { readonly witnesses?: readonly CosigningWitness['witness'][] } = {},
): Promise<Space> {
  const { witnesses = [], ...simulated } = options
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const world = cleanup.use(await startWorld({ profile: QUICK_LOG, config: { role: 'all', witnesses } }))
  const clock = new MovableClock()
  const simulator = cleanup.use(
    await startSimulator({
      participants: [{ participantId: 'BPNL-acme' }, { participantId: 'BPNL-bolt' }],
      clock,
      tokenLifetimeMs: TOKEN_LIFETIME_MS,
      ...simulated,
    }),
  )
  const ends = ['BPNL-acme', 'BPNL-bolt'].map((id) => simulator.participant(id))
  const known = new Map<string, CounterParty>()
  const wired = (given: Omit<Company, 'connector' | 'dataSpace'>, connectorId: string): Company => {
    const { participantId, managementUrl, apiKey } = given.edc
    const { dataAddress } = given
    const connector = new EdcV3Connector({
      connectorId,
      participantId,
      managementUrl,
      auth: { apiKey },
      dataAddress,
      clock,
      allowPrivateDataPlanes: true,
    })
    return { ...given, connector, dataSpace: { connector, participant: async (id) => known.get(id) } }
  }
  const approve = async ({ agent, connector }: Company) => {
    const { status, body } = await world.operate('POST', '/connectors', {
      organization_id: agent.identity.organizationId,
      connector_id: connector.connectorId,
      participant_id: connector.participantId,
      endpoint: 'https://connector.example/protocol',
    })
    assert.equal(status, 201, JSON.stringify(body))
  }
  const running = undo.move()
  return {
    world,
    clock,
    approve,
    async company(
      name,
      { approved = true, dataAddress, outbox = createMemoryOutbox(), ...agentOptions } = {},
    ) {
      const agent = await startAgent(world, name, agentOptions)
      const edc = simulator.participant(`BPNL-${name}`)
      const { participantId, protocolEndpoint } = edc
      known.set(agent.identity.organizationId, { participantId, protocolEndpoint })
      const host = dataAddress ?? running.use(await startDataAddressServer())
      const company = wired({ agent, outbox, edc, dataAddress: host }, randomId('connector'))
      if (approved) await approve(company)
      return company
    },
    restart: ({ connector: { connectorId }, ...company }, changes = {}) =>
      wired({ ...company, ...changes }, connectorId),
    async stop({ agent, connector }, how) {
      const path = `/organizations/${agent.identity.organizationId}/connectors/${connector.connectorId}/${how}`
      const { status, body } = await world.operate('POST', path, { reason: 'a test' })
      assert.equal(status, 200, JSON.stringify(body))
    },
    async count(packageId) {
      const states = ends.map(({ state }) => state)
      const ids = (records: Iterable<string>) => [...records].filter((id) => id.includes(packageId)).length
      const asked = (records: Iterable<{ assetId: string; type: string }>) =>
        [...records].filter(({ assetId, type }) => type === 'CONSUMER' && assetId.includes(packageId)).length
      const sum = (of: (state: (typeof states)[number]) => number) =>
        states.reduce((total, state) => total + of(state), 0)
      return {
        assets: sum(({ assets }) => ids(assets.keys())),
        offers: sum(({ contractDefinitions }) => ids(contractDefinitions.keys())),
        packages: (await world.sql`select from package where package_id = ${packageId}`).length,
        policyReceipts: (await world.sql`select from policy_receipt where package_id = ${packageId}`).length,
        negotiations: sum(({ negotiations }) => asked(negotiations.values())),
        transfers: sum(({ transfers }) => asked(transfers.values())),
      }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

export function open(by: Company, packageId: string, options: OpenDependencies = {}) {
  return openPackage(by.agent, packageId, { dataSpace: by.dataSpace, ...options })
}

/** The error of the SDK that something ends with. */
export async function failure(code: ExchangeErrorCode, work: Promise<unknown>): Promise<ExchangeError> {
  const error = await work.then(
    () => assert.fail(`expected ${code}, and it worked`),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ExchangeError, String(error))
  assert.equal(error.code, code, error.message)
  return error
}

/** The connector's error behind one of the SDK. */
export function connectorCode({ cause }: ExchangeError): ConnectorErrorCode {
  assert.ok(cause instanceof ConnectorError, String(cause))
  return cause.code
}

/** What the recipient has reported to the sender: the states of receipts whose signatures hold without the exchange. */
export async function toldTo({ agent }: Company, packageId: string): Promise<string[]> {
  const { capsule } = await readCapsule(agent, { packageId })
  assert.ok(capsule.format === 'aex-evidence/3')
  const { contradictions, checks } = await verifyCapsule(capsule)
  assert.deepEqual(contradictions, [])
  const [shown] = capsule.packages
  const kinds = (shown?.entries ?? []).map((entry) => ('proof' in entry ? entry.proof.kind : entry.kind))
  const states = kinds
    .filter((kind) => kind.startsWith('receipt_'))
    .map((kind) => kind.slice('receipt_'.length))
  for (const state of states)
    assert.ok(checks.some(({ code, values }) => code === 'receipt_signature' && values?.['state'] === state))
  return states
}

/** The same company with a connector that does something beside what it is asked for. */
export function through(company: Company, change: Partial<DataSpaceConnector>): Company {
  const { connector } = company
  const whole: DataSpaceConnector = {
    connectorId: connector.connectorId,
    participantId: connector.participantId,
    publish: (...given) => connector.publish(...given),
    acquire: (...given) => connector.acquire(...given),
    fetch: (...given) => connector.fetch(...given),
    finish: (...given) => connector.finish(...given),
    withdraw: (...given) => connector.withdraw(...given),
    ...change,
  }
  return { ...company, dataSpace: { ...company.dataSpace, connector: whole } }
}
