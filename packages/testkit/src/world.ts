import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createProfile, DEFAULT_PROFILE, type DeploymentProfile } from '@agent-exchange/protocol'
import type { Config, RunningService } from '@agent-exchange/service'
import { pino } from 'pino'
import postgres from 'postgres'
import { freePorts } from './free-ports.ts'
import { runningClock, type MovableClock } from './movable-clock.ts'
import { createOrganization } from './organization.ts'
import { testDatabase } from './test-database.ts'
import type { World } from './test-world.ts'

export interface WorldOptions {
  /** Overrides of the deployment profile, by open point. */
  readonly profile?: Record<string, object>
  readonly config?: Partial<Config>
  /** Of the evidence of new packages. A world beside another one may raise it, as the end of an upgrade does. */
  readonly evidenceVersion?: 1 | 2
  /** Another world whose database to use, as a replica of the same exchange. */
  readonly beside?: World
  /** Overrides the clock of `beside`. */
  readonly clock?: MovableClock
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const cleanup = new AsyncDisposableStack()
  const { beside } = options
  const databaseUrl = beside ? beside.databaseUrl : cleanup.use(await testDatabase()).url
  const folder = mkdtempSync(join(tmpdir(), 'aex-world-'))
  cleanup.defer(() => rmSync(folder, { recursive: true }))
  const masterKey = beside?.masterKey ?? randomBytes(32)
  const clock = options.clock ?? beside?.clock ?? runningClock()
  const [port, operatorPort] = await freePorts(2)
  const config = configOf(options, {
    databaseUrl,
    folder,
    masterKey,
    port,
    operatorPort,
    publicUrl: beside?.url,
  })
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) })
  // Loaded lazily, so that tests that only need other exports start faster.
  const { startService } = await import('@agent-exchange/service')
  const sql = postgres(databaseUrl, { max: 4, onnotice: () => undefined })
  cleanup.defer(() => sql.end({ timeout: 1 }))
  if (options.evidenceVersion !== undefined)
    await sql`update evidence_version set version = ${options.evidenceVersion}`
  const service: RunningService = cleanup.use(await startService(config, { clock, log }))
  const token = beside ? undefined : readFileSync(service.operatorTokenFile, 'utf8').trim()
  const operate: World['operate'] = beside
    ? beside.operate
    : (method, path, body) => callOperator(service.urls.operator, token ?? '', method, path, body)

  const url = config.tls ? `https://127.0.0.1:${port}` : `http://127.0.0.1:${port}`
  const world: World = {
    url,
    operatorUrl: service.urls.operator,
    clock,
    sql,
    databaseUrl,
    masterKey,
    logged,
    operate,
    organization: (name, organizationOptions = {}) => createOrganization(world, name, organizationOptions),
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  }
  return world
}

interface Place {
  databaseUrl: string
  folder: string
  masterKey: Uint8Array
  port: number | undefined
  operatorPort: number | undefined
  publicUrl: string | undefined
}

/** Overrides need the compiled profile schema, so the default profile avoids it. */
function profileOf(overrides: WorldOptions['profile']): DeploymentProfile {
  if (overrides === undefined) return DEFAULT_PROFILE
  const created = createProfile(overrides)
  if (!created.ok) throw new Error(JSON.stringify(created.failures))
  return created.profile
}

function configOf({ profile, config = {} }: WorldOptions, place: Place): Config {
  return {
    host: '127.0.0.1',
    port: place.port ?? 0,
    operatorHost: '127.0.0.1',
    operatorPort: place.operatorPort ?? 0,
    // Replicas share one public URL; tests call each at its own address.
    publicUrl: place.publicUrl ?? `${config.tls ? 'https' : 'http'}://127.0.0.1:${place.port}`,
    dataDirectory: place.folder,
    databaseUrl: place.databaseUrl,
    databaseReadUrl: undefined,
    databaseDirectUrl: undefined,
    tls: undefined,
    trustedProxies: [],
    issuer: undefined,
    profile: profileOf(profile),
    webhook: { ca: undefined, allowPrivate: true },
    // No delivery by default; tests of delivery set `role: 'all'`.
    role: 'api',
    workers: 1,
    createsFirstOperator: true,
    masterKey: place.masterKey,
    smtp: undefined,
    logLevel: 'info',
    operatorPublicUrl: undefined,
    operatorSignOn: undefined,
    witnesses: [],
    tracing: undefined,
    ...config,
  }
}

/** Calls an operator API. */
export async function callOperator(base: string, token: string, method: string, path: string, body?: object) {
  const response = await fetch(`${base}/operator/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'x-correlation-id': randomUUID(),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
