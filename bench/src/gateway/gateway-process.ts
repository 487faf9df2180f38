import { randomBytes } from 'node:crypto'
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
import type { Exchange } from '../exchange/exchange.ts'
import type { TestBed } from '../exchange/test-bed.ts'
import { urlOf } from '../exchange/postgres-server.ts'
import { serve, type Served } from '../processes/serve.ts'
import { invite, REGISTRATION, type Pair } from './pair.ts'

export const POLICY_ID = 'pol_free'

/** A running gateway with both agents of a pair. */
export interface GatewayProcess extends Served {
  readonly pair: Pair
  /** One for each concurrent caller: calls per minute are limited for each system. */
  readonly keys: readonly string[]
}

export interface GatewayTerms {
  readonly bed: TestBed
  readonly exchange: Exchange
  readonly pair: Pair
  readonly callers: number
  /** The compiled command `aex` instead of the sources. */
  readonly program?: string
  /** Settings of a key module. */
  readonly module?: Readonly<Record<string, string>>
}

/** Makes the database of a gateway, adds agents, policies and systems, and runs `aex gateway serve`. */
export async function startGatewayProcess(terms: GatewayTerms): Promise<GatewayProcess> {
  const { bed, exchange, pair, callers, program, module = {} } = terms
  const database = urlOf(await bed.postgres.create(`gateway_${pair.name}`))
  const [port, adminPort, webhookPort] = await freePorts(3)
  const { certificate, key } = await bed.authority.server()
  const env = {
    AEX_GATEWAY_DATABASE_URL: database,
    AEX_GATEWAY_MASTER_KEY: randomBytes(32).toString('hex'),
    AEX_GATEWAY_PORT: String(port),
    AEX_GATEWAY_ADMIN_PORT: String(adminPort),
    AEX_GATEWAY_WEBHOOK_PORT: String(webhookPort),
    AEX_GATEWAY_WEBHOOK_URL: `https://localhost:${webhookPort}`,
    AEX_GATEWAY_TLS_CERT: bed.file(`gateway-${pair.name}.crt`, certificate),
    AEX_GATEWAY_TLS_KEY: bed.file(`gateway-${pair.name}.key`, key),
    AEX_GATEWAY_LOG_LEVEL: 'warn',
    ...module,
  }
  const keys = await enroll(env, { exchange, pair, callers })
  const served = await serve({
    ...(program !== undefined && { program }),
    command: ['gateway', 'serve'],
    url: `https://localhost:${port}`,
    operatorUrl: `https://localhost:${adminPort}`,
    env,
    logFile: `${bed.folder.path}/gateway-${pair.name}.log`,
  })
  return { ...served, pair, keys }
}

/** What an administrator does once. */
async function enroll(
  env: Readonly<Record<string, string>>,
  { exchange, pair, callers }: Pick<GatewayTerms, 'exchange' | 'pair' | 'callers'>,
): Promise<readonly string[]> {
  await using gateway = await openGateway(readGatewayConfig(env), { create: true })
  for (const [agent, partner] of [
    [pair.asking, pair.handling],
    [pair.handling, pair.asking],
  ] as const) {
    const invitation = await invite(exchange, agent)
    await addAgent(gateway, { invitation, agentId: agent.agentId, registration: REGISTRATION })
    const terms = { by: agent, to: partner.organizationId, now: new Date(), policyId: POLICY_ID }
    await putPolicy(gateway.db, agent.agentId, JSON.stringify(newObject('policy_envelope', terms)))
  }
  const agents = [pair.asking.agentId, pair.handling.agentId]
  return Promise.all(
    Array.from(
      { length: callers },
      async (_, i) => (await addSystem(gateway.db, { name: `caller ${i}`, agents, verbs: VERBS })).key,
    ),
  )
}
