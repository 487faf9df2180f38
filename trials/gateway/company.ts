import { randomBytes } from 'node:crypto'
import { openDatabase, type Database } from '@agent-exchange/database'
import {
  addAgent,
  addSystem,
  openGateway,
  putPolicy,
  readGatewayConfig,
  VERBS,
} from '@agent-exchange/gateway'
import { newObject } from '@agent-exchange/sdk/internal'
import { freePorts } from '@agent-exchange/testkit'
import type { Exchange } from '../shared/exchange.ts'
import { killed, spawnServe, untilReady, type ServeProcess } from '../shared/serve-process.ts'
import { startForwarder } from './forwarder.ts'

const SKILL = { id: 'skill_alignment', version: '1.0.0' }
const GATEWAY = ['gateway', 'serve']
const SYSTEMS = ['asking', 'handling', 'auditing'] as const
export const POLICY_ID = 'pol_free'

export interface Instance {
  readonly adminUrl: string
  readonly url: string
  current(): ServeProcess
  /** What any run of it logged about requests that nobody expected to fail, once each. */
  internalErrors(): string[]
  /** Starts it again, with changed settings if given; resolves when it is ready. */
  start(change?: Readonly<Record<string, string>>): Promise<void>
}

/** A company with a gateway of two instances, and the keys of its systems. */
export interface Company {
  readonly name: string
  readonly organizationId: string
  readonly agentId: string
  readonly instances: readonly Instance[]
  /** The idempotency keys of a system are its own, so all programs that handle items have one key. */
  readonly keys: Keys
  readonly db: Database
}

type Keys = Readonly<Record<(typeof SYSTEMS)[number], string>>

export interface CompanyTerms {
  readonly name: string
  readonly partner: string
  readonly exchange: Exchange
  /** A database of its own, as the trial reaches it. */
  readonly databaseUrl: string
  /** The same as the instances reach it. */
  readonly servedUrl: string
  readonly tls: { readonly certificateFile: string; readonly keyFile: string }
  /** Settings of the module that holds the keys. */
  readonly module?: Readonly<Record<string, string>>
}

export async function startCompany(terms: CompanyTerms, cleanup: AsyncDisposableStack): Promise<Company> {
  const { name, databaseUrl } = terms
  const [organizationId, agentId] = [`org_${name}`, `agent_${name}`]
  const ports = await freePorts(6)
  const webhooks = cleanup.use(await startForwarder([ports[2] ?? 0, ports[5] ?? 0]))
  const common = {
    AEX_GATEWAY_HOST: '127.0.0.1',
    AEX_GATEWAY_DATABASE_URL: terms.servedUrl,
    AEX_GATEWAY_MASTER_KEY: randomBytes(32).toString('base64url'),
    AEX_GATEWAY_TLS_CERT: terms.tls.certificateFile,
    AEX_GATEWAY_TLS_KEY: terms.tls.keyFile,
    AEX_GATEWAY_WEBHOOK_URL: `https://localhost:${webhooks.port}`,
    AEX_GATEWAY_LOG_LEVEL: 'warn',
    ...terms.module,
  }
  const keys = await enroll(terms, common, { organizationId, agentId })
  const instances = [0, 3].map((first) => instanceOf(common, ports.slice(first, first + 3), cleanup))
  const db = openDatabase({ target: databaseUrl, maximumConnections: 2, applicationName: 'trial' })
  cleanup.defer(() => db.end({ timeout: 1 }))
  await Promise.all(instances.map((instance) => instance.start()))
  return { name, organizationId, agentId, instances, keys, db }
}

/** What an administrator does once: agent, policy, systems. */
async function enroll(
  { partner, exchange, databaseUrl }: CompanyTerms,
  env: Readonly<Record<string, string>>,
  { organizationId, agentId }: { readonly organizationId: string; readonly agentId: string },
): Promise<Keys> {
  const operate = async (path: string, body: object) => (await exchange.operate('POST', path, body)).body
  await operate('/organizations', { organization_id: organizationId, name: organizationId })
  const { invitation } = await operate('/invitations', { organization_id: organizationId })
  await using gateway = await openGateway(
    readGatewayConfig({ ...env, AEX_GATEWAY_DATABASE_URL: databaseUrl }),
    { create: true },
  )
  const registration = {
    implementation: 'aex gateway',
    implementationVersion: '1.0.0',
    skillVersions: { [SKILL.id]: SKILL.version },
  }
  await addAgent(gateway, { invitation: String(invitation), agentId, registration })
  const policy = newObject('policy_envelope', {
    by: { organizationId, agentId },
    to: `org_${partner}`,
    now: new Date(),
    policyId: POLICY_ID,
  })
  await putPolicy(gateway.db, agentId, JSON.stringify(policy))
  const add = async (name: (typeof SYSTEMS)[number]) =>
    [name, (await addSystem(gateway.db, { name, agents: [agentId], verbs: VERBS })).key] as const
  return Object.fromEntries(await Promise.all(SYSTEMS.map(add))) as Keys
}

function instanceOf(
  common: Readonly<Record<string, string>>,
  [port = 0, adminPort = 0, webhookPort = 0]: readonly number[],
  cleanup: AsyncDisposableStack,
): Instance {
  let env: Readonly<Record<string, string>> = {
    ...common,
    AEX_GATEWAY_PORT: String(port),
    AEX_GATEWAY_ADMIN_PORT: String(adminPort),
    AEX_GATEWAY_WEBHOOK_PORT: String(webhookPort),
  }
  const runs: ServeProcess[] = []
  let served: ServeProcess | undefined
  cleanup.defer(() => served && killed(served))
  return {
    url: `https://localhost:${port}`,
    adminUrl: `https://localhost:${adminPort}`,
    current() {
      if (!served) throw new Error('the instance has not started')
      return served
    },
    internalErrors: () => [...new Set(runs.flatMap(({ logged }) => logged.flatMap(internalErrorIn)))],
    async start(change = {}) {
      env = { ...env, ...change }
      served = spawnServe(env, undefined, GATEWAY)
      runs.push(served)
      await untilReady(served, `https://localhost:${adminPort}`)
    },
  }
}

/** A log line about an answer of 500. */
function internalErrorIn(line: string): string[] {
  if (!line.includes('"msg":"request failed"')) return []
  const { err } = JSON.parse(line) as { err: { stack?: string; message: string } }
  return [(err.stack ?? err.message).split('\n', 4).join(' ')]
}
