import { writeFileSync } from 'node:fs'
import { startSimulator, type SimulatedParticipant, type Simulator } from '@agent-exchange/edc-simulator'
import { freePorts, startWorld, type World } from '@agent-exchange/testkit'
import { succeeds } from '../../aex-here.fixture.ts'
import { madeAgent, temporaryFolder } from './agents.fixture.ts'

export const API_KEY = 'key-that-nobody-may-see-4711'

/** An agent with a connector of its own, set by the command line. */
export interface Company {
  readonly dir: string
  readonly organizationId: string
  readonly agentId: string
  readonly edc: SimulatedParticipant
  readonly dataPort: number
}

export interface CompaniesInDataSpace extends AsyncDisposable {
  readonly world: World
  readonly acme: Company
  readonly bolt: Company
  path(name: string): string
}

/** Two registered agents whose connectors are set, approved, and each other's partners; no data address runs yet. */
export async function companiesInDataSpace(): Promise<CompaniesInDataSpace> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const folder = cleanup.use(temporaryFolder())
  const world = cleanup.use(await startWorld())
  const participants = ['BPNL-acme', 'BPNL-bolt'].map((participantId) => ({ participantId, apiKey: API_KEY }))
  const simulator: Simulator = cleanup.use(await startSimulator({ participants, stepMs: 10 }))
  writeFileSync(folder.path('key'), `${API_KEY}\n`)
  const [acmePort = 0, boltPort = 0] = await freePorts(2)
  const company = async (name: string, dataPort: number): Promise<Company> => {
    const dir = await madeAgent(world, name, folder.path(name), { register: false })
    const edc = simulator.participant(`BPNL-${name}`)
    const made = { dir, organizationId: `org_${name}`, agentId: `agent_${name}`, edc, dataPort }
    await succeeds(...settingOf(made, folder.path('key')))
    await succeeds('agent', 'register', '--dir', dir)
    await world.operate('POST', '/connectors', {
      organization_id: made.organizationId,
      connector_id: `edc-${name}`,
      participant_id: edc.participantId,
      endpoint: 'https://connector.example/protocol',
    })
    return made
  }
  const [acme, bolt] = [await company('acme', acmePort), await company('bolt', boltPort)]
  for (const [own, other] of [
    [acme, bolt],
    [bolt, acme],
  ] as const)
    await succeeds(...partnerOf(own, other))
  const running = undo.move()
  return { world, acme, bolt, path: folder.path, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** The words that set a connector. */
export function settingOf({ dir, edc, dataPort }: Company, keyFile: string): string[] {
  const { participantId, managementUrl, protocolEndpoint } = edc
  const connector = ['--connector', participantId.replace('BPNL', 'edc'), '--participant', participantId]
  const addresses = ['--management-url', managementUrl, '--protocol-url', protocolEndpoint]
  const data = ['--api-key-file', keyFile, '--data-port', String(dataPort), '--allow-private-data-planes']
  return ['agent', 'connector', 'set', '--dir', dir, ...connector, ...addresses, ...data]
}

export function partnerOf({ dir }: Company, { organizationId, edc }: Company): string[] {
  const where = ['--participant', edc.participantId, '--protocol-url', edc.protocolEndpoint]
  return ['agent', 'connector', 'partner', organizationId, '--dir', dir, ...where]
}
