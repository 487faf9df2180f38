import type { KeyProvider } from '@agent-exchange/crypto'
import { connect, createMemoryKeyStore, makeAgentKeys, type Agent } from '@agent-exchange/sdk'
import { freePorts, startWorld, type World, type WorldOptions } from '@agent-exchange/testkit'
import type { Environment } from '@agent-exchange/server/settings'
import { pino } from 'pino'
import { addAgent } from '../agents/add-agent.ts'
import { readGatewayConfig } from '../config/read-config.ts'
import { gatewayDatabase, testBox } from '../stores/gateway-database.fixture.ts'
import { startGateway, type RunningGateway } from './start-gateway.ts'

export const SKILL = { id: 'skill_alignment', version: '1.0.0' } as const
const MASTER_KEY = Buffer.alloc(32, 1).toString('base64url')
export const registration = {
  implementation: 'gateway-test',
  implementationVersion: '1.0.0',
  skillVersions: { [SKILL.id]: SKILL.version },
}

/** A company with a gateway on a database of its own. */
export interface Company extends AsyncDisposable {
  readonly databaseUrl: string
  /** Everything that the instances logged. */
  readonly logged: string[]
  startInstance(settings?: Environment): Promise<RunningGateway>
  /** Adds an agent to the gateway by an invitation: of a new organization, or of that of a colleague. */
  addAgent(name: string, options?: { colleagueOf?: string; keyProvider?: KeyProvider }): Promise<string>
}

export interface Companies extends Company {
  readonly world: World
  /** The company without a gateway. */
  readonly partner: Agent
}

/** An exchange, a company with a gateway, and a partner that uses the SDK alone. */
export async function startCompanies(options: WorldOptions = {}): Promise<Companies> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const world = cleanup.use(await startWorld(options))
  const company = cleanup.use(await startCompany(world))
  const partner = await startPartner(world, () => new Date(world.clock.now()))
  const stop = undo.move()
  return { ...company, world, partner, [Symbol.asyncDispose]: () => stop.disposeAsync() }
}

export async function startCompany(world: World): Promise<Company> {
  const database = await gatewayDatabase()
  const logged: string[] = []
  const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) })
  const now = () => new Date(world.clock.now())
  const operate = async (path: string, body: object) => (await world.operate('POST', path, body)).body

  async function startInstance(settings: Environment = {}): Promise<RunningGateway> {
    const [port, admin, webhook] = await freePorts(3)
    const config = readGatewayConfig({
      AEX_GATEWAY_PORT: String(port),
      AEX_GATEWAY_ADMIN_PORT: String(admin),
      AEX_GATEWAY_WEBHOOK_PORT: String(webhook),
      AEX_GATEWAY_DATABASE_URL: database.url,
      AEX_GATEWAY_MASTER_KEY: MASTER_KEY,
      ...settings,
    })
    const limits = { pollMs: 50, idleMs: 50 }
    return startGateway(config, { log, limits, clock: { ...world.clock, monotonicMilliseconds: () => 0 } })
  }

  return {
    databaseUrl: database.url,
    logged,
    startInstance,
    async addAgent(name, { colleagueOf = name, keyProvider } = {}) {
      const organization_id = `org_${colleagueOf}`
      if (colleagueOf === name) await operate('/organizations', { organization_id, name })
      const { invitation } = await operate('/invitations', { organization_id })
      const deps = {
        db: database.db,
        box: testBox(),
        now,
        publicUrl: 'http://localhost:8090',
        ...(keyProvider && { keyProvider }),
      }
      const added = await addAgent(deps, {
        invitation: String(invitation),
        agentId: `agent_${name}`,
        registration,
      })
      return added.agentId
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

async function startPartner(world: World, now: () => Date): Promise<Agent> {
  const identity = { organizationId: 'org_partner', agentId: 'agent_partner' }
  const keys = createMemoryKeyStore()
  const { client } = await makeAgentKeys(keys, { identity, now })
  await world.operate('POST', '/organizations', { organization_id: 'org_partner', name: 'partner' })
  const { body } = await world.operate('POST', '/clients', {
    organization_id: 'org_partner',
    public_jwk: client.publicJwk,
  })
  const agent = await connect({
    baseUrl: world.url,
    clientId: String(body['client_id']),
    identity,
    keys,
    now,
  })
  await agent.register(registration)
  return agent
}

/** A package of one company for the other, with this word in it. */
export function contentFor(agent: Agent, to: { organizationId: string; agentId: string }, word: string) {
  const policy = agent.make.policyEnvelope({ to: to.organizationId, purpose: 'supply planning' })
  const object = agent.make.reasoningPackage({
    to: to.organizationId,
    policy,
    summary: word,
    facts: [{ statement: word }],
    ask: 'confirm',
  })
  return { object, policy, to, skill: SKILL }
}
