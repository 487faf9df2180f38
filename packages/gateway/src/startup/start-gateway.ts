import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import type { Fetch, ReceiveLimits } from '@agent-exchange/sdk'
import { systemClock, type Clock } from '@agent-exchange/server/clock'
import { createLog } from '@agent-exchange/server/create-log'
import { certificateReload } from '@agent-exchange/server/certificate-reload'
import { masterKeyReload } from '@agent-exchange/server/master-key-reload'
import { listenerOptions } from '@agent-exchange/server/listener-options'
import { listenAddress, type TlsConfig, type TlsFiles } from '@agent-exchange/server/settings'
import { startPeriodic, type PeriodicTask } from '@agent-exchange/server/periodic'
import type { Database } from '@agent-exchange/database'
import { trustedPeers } from '@agent-exchange/server/trusted-peers'
import { withinTime } from '@agent-exchange/server/within-time'
import { createKeyModuleMetrics, watchKeyModule } from '@agent-exchange/server/key-module'
import { issuerKeys } from '@agent-exchange/server/issuer'
import { openModule } from '@agent-exchange/pkcs11'
import type { Logger } from 'pino'
import { hostAgents, type AgentHosting } from '../agents/host-agents.ts'
import { openApi } from '../api/open-api.ts'
import { listenForWebhooks } from '../agents/webhook-listener.ts'
import { administrationHost, isBehindProxy } from '../config/administration-place.ts'
import { withGatewayMasterKey, type GatewayConfig } from '../config/read-config.ts'
import type { ContentStore } from '../content/content-store.ts'
import { openContentStore } from '../content/open-content-store.ts'
import { retentionTask } from '../content/retention.ts'
import { openDesk } from '../desk/open-desk.ts'
import { openLeaseWaiters } from '../inbox/lease-waiters.ts'
import { closeListener } from '../listeners/create-listener.ts'
import { listenForAdministration } from '../operations/admin-listener.ts'
import { createGatewayMetrics } from '../operations/gateway-metrics.ts'
import { openOperations, openRequestSpans } from '../operations/open-operations.ts'
import { missingKeyId } from '../operations/rotate-master-key.ts'
import { createSecretBox } from '../stores/secret-box.ts'
import { databaseClock } from './database-clock.ts'
import { listListeners, reportInstance } from './instances.ts'
import { answerProxiesOnly } from './answer-proxies-only.ts'
import { openGatewayDatabase } from './open-gateway-database.ts'
import { analysisTask } from './young-tables.ts'

const PING_SECONDS = 2
const PING_LIMIT_MS = 2_000

export interface GatewayOptions {
  readonly clock?: Clock
  readonly log?: Logger
  /** Progress of the start, for a person. */
  readonly progress?: (line: string) => void
  readonly fetch?: Fetch
  readonly limits?: Partial<ReceiveLimits>
}

/** Disposing of it stops listeners and receivers, then the database. */
export interface RunningGateway extends AsyncDisposable {
  readonly db: Database
  readonly agents: AgentHosting
  readonly contents: ContentStore
  readonly urls: { readonly api: string; readonly admin: string; readonly webhooks: string }
  isReady(): boolean
  /** Resolves when the embedded database died and could not be brought back. */
  readonly failed: Promise<Error>
}

/** Starts one instance of a gateway: database, migrations, agents, webhook and administration listeners. */
export async function startGateway(
  given: GatewayConfig,
  options: GatewayOptions = {},
): Promise<RunningGateway> {
  const config = withGatewayMasterKey(given)
  const { log = createLog(config.logLevel), progress = () => undefined } = options
  const ofDatabase = databaseClock(systemClock)
  const clock = options.clock ?? ofDatabase
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const { db, sessions, failed } = await openGatewayDatabase(config, cleanup, progress)
  await ofDatabase.compare(db)
  const masterKeys = masterKeyReload({ config, missing: (ids) => missingKeyId(db, ids), log })
  const box = createSecretBox(masterKeys.keys)
  const ports = [config.port, config.webhookPort, config.adminPort]
  const instance = cleanup.use(reportInstance(db, masterKeys.keys, ports))
  const contents = openContentStore({ db, box, clock })
  const leases = await openLeaseWaiters({ db, contents })
  const metrics = createGatewayMetrics({ db, now: () => new Date(clock.now()) })
  const { fetch, limits } = options
  const keyModule =
    config.keyModule &&
    cleanup.use(openModule({ ...config.keyModule, ...createKeyModuleMetrics(metrics.registry) }))
  const tracing = await openRequestSpans(config.tracing, { log, metrics: metrics.registry }, cleanup)
  const agents = cleanup.use(
    await hostAgents({
      db,
      sessions,
      box,
      contents,
      waiters: leases,
      log,
      now: () => new Date(clock.now()),
      publicUrl: config.publicUrl,
      tracing,
      onReport: metrics.onReport,
      onLogFinding: metrics.onLogFinding,
      ...(config.webhookUrl !== undefined && { webhookUrl: config.webhookUrl }),
      ...(keyModule && { keyProvider: keyModule }),
      ...(fetch && { fetch }),
      ...(limits && { limits }),
    }),
  )
  let isReady = true
  let corrected = 0
  const noteClock = (ahead: number) => {
    if (ahead !== 0 && corrected === 0)
      log.warn(
        { milliseconds: -ahead },
        'the clock of this machine differs from that of the database, which is used',
      )
    corrected = ahead
  }
  const ping: PeriodicTask = {
    name: 'database check',
    everySeconds: PING_SECONDS,
    async run() {
      const answered = ofDatabase.compare(db).then(noteClock, () => new Promise<never>(() => undefined))
      isReady = await withinTime(answered, PING_LIMIT_MS)
      metrics.setReady(isReady)
      metrics.setAgents(agents.list().length, agents.isLeading())
    },
  }
  const { host, port, webhookPort, adminPort, publicUrl, tls, tokens, mcp, pushHosts } = config
  const isProxy = trustedPeers(config.trustedProxies)
  const desk = openDesk({
    db,
    agents,
    contents,
    clock,
    masterKey: config.masterKey,
    box,
    publicUrl,
    address: { host, port, tls: tls !== undefined, publicUrl },
    signOn: config.signOn,
    log,
  })
  const api = cleanup.use(
    await openApi({
      desk,
      db,
      box,
      agents,
      contents,
      leases,
      clock,
      publicUrl,
      log,
      listener: listenerOptions(tls),
      isProxy,
      tracing,
      onAnswer: metrics.onAnswer,
      onPush: metrics.onPush,
      counted: metrics.counted,
      tokens: tokens && { source: issuerKeys(tokens.issuer, clock), audience: tokens.audience },
      push:
        pushHosts.size === 0
          ? undefined
          : {
              allowedHosts: pushHosts,
              ownPorts: new Set(ports),
              listInstances: () => listListeners(db),
            },
    }),
  )
  if (mcp) {
    // Loaded only here: the server of the protocol takes much memory.
    const { mountMcp } = await import('../api/mount-mcp.ts')
    cleanup.use(
      mountMcp(api.app, {
        db,
        agents,
        contents,
        clock,
        publicUrl,
        log,
        isProxy,
        tokens: { source: issuerKeys(mcp.issuer, clock), audience: mcp.audience },
      }),
    )
  }
  const moduleWatch = keyModule && watchKeyModule(keyModule, log)
  const operations = cleanup.use(
    await openOperations({
      config,
      db,
      agents,
      clock,
      log,
      metrics,
      isModuleAway: () => moduleWatch?.isAway() === true,
    }),
  )
  // Before the listener closes: it would wait for pages that update themselves.
  cleanup.use(desk)
  const tasks = [
    ping,
    metrics.task,
    instance.task,
    analysisTask(db),
    ...masterKeys.tasks,
    metrics.counted('content', retentionTask(db, clock)),
    ...agents.tasks,
    ...api.tasks,
    ...operations.tasks,
    ...(moduleWatch ? [moduleWatch] : []),
    ...desk.tasks,
  ]
  cleanup.use(startPeriodic(tasks, log))
  const address = listenAddress(host)
  const webhooks = await listenForWebhooks(agents, { host: address, port: webhookPort, tls })
  cleanup.defer(() => closeListener(webhooks))
  const admin = await listenForAdministration({
    host: listenAddress(administrationHost(config)),
    port: adminPort,
    tls,
    isReady: () => isReady,
    metrics: metrics.registry,
  })
  cleanup.defer(() => closeListener(admin))
  cleanup.defer(() => void (isReady = false))
  if (isBehindProxy(config))
    for (const server of [api.app.server, webhooks]) answerProxiesOnly(server, isProxy, log)
  const apiUrl = await api.app.listen({ host: address, port })
  if (tls?.files)
    cleanup.use(startPeriodic([reloadOf(tls, tls.files, [api.app.server, webhooks, admin], log)], log))
  const urls = {
    api: apiUrl,
    admin: urlOf(admin, tls !== undefined),
    webhooks: urlOf(webhooks, tls !== undefined),
  }
  log.info({ ...urls, agents: agents.list().length }, 'ready')
  const stop = undo.move()
  return {
    db,
    agents,
    contents,
    urls,
    failed,
    isReady: () => isReady,
    [Symbol.asyncDispose]: () => stop.disposeAsync(),
  }
}

/** Replaces the certificate of all listeners when its files change. */
function reloadOf(
  tls: Omit<TlsConfig, 'clientCa'>,
  files: TlsFiles,
  servers: readonly unknown[],
  log: Logger,
): PeriodicTask {
  return certificateReload({
    tls: { ...tls, files, clientCa: undefined },
    // With TLS they are TLS servers; the types of Fastify and node:http do not say so.
    listeners: servers.map((server) => ({ server: server as TlsServer, verifiesClients: false })),
    log,
  })
}

function urlOf(server: Server, secure: boolean): string {
  const { address, port, family } = server.address() as AddressInfo
  return `${secure ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
