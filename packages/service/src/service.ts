import { createSecretKey } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { namesSeveralHosts, showConfig, withMasterKey, type Config } from './config/index.ts'
import type { EmbeddedDatabase } from '@agent-exchange/database/embedded'
import { openConsole } from './console/open-console.ts'
import { startDelivery } from './webhooks/worker/engine.ts'
import { caReload } from './startup/ca-reload.ts'
import { alertTask } from './features/alerts/alert-outbox.ts'
import { expiryAlertTask } from './features/expiry/alert-expiry.ts'
import { createExpiryMetrics } from './features/expiry/expiry-metrics.ts'
import { createDatabaseMetrics } from './features/overview/database-metrics.ts'
import { createReport } from './features/overview/report-activity.ts'
import { createStorageMetrics } from './features/overview/storage-metrics.ts'
import { makePartitions } from './features/retention/make-partitions.ts'
import { prepareSchema, type PreparedSchema } from './features/upgrades/prepare-schema.ts'
import { checkpointFile } from './features/transparency-log/checkpoint-file.ts'
import { logAlertTask } from './features/transparency-log/log-alerts.ts'
import { createLogMetrics } from './features/transparency-log/log-metrics.ts'
import { openLog } from './features/transparency-log/open-log.ts'
import { startSequencer } from './features/transparency-log/sequencer.ts'
import { createAgentBodyBudget, createOperatorBodyBudget } from './http/body-budget.ts'
import { reloadListeners, type CertificateReload } from './http/certificate-reload.ts'
import { connectionRules } from './http/connection-rules.ts'
import { createMetrics } from './http/metrics.ts'
import { openReadReplica } from './http/open-read-replica.ts'
import { createWriteMetrics } from './http/write-metrics.ts'
import { createActivity } from './kernel/activity.ts'
import { systemClock, type Clock } from './kernel/clock.ts'
import type { Context } from './kernel/context.ts'
import { countActivity } from './kernel/count-activity.ts'
import { createLog } from './kernel/create-log.ts'
import { randomId } from './kernel/ids.ts'
import { masterKeyReload } from './platform-keys/master-key-reload.ts'
import { deriveSecret, fingerprint, knownKeys } from './platform-keys/master-key.ts'
import { startPeriodic } from './kernel/periodic.ts'
import { openPlatformKeys } from './platform-keys/platform-keys.ts'
import { ensureFirstOperator } from './operator/first-operator.ts'
import type { OperatorDependencies } from './operator/dependencies.ts'
import { createOperatorServer } from './operator/server.ts'
import { openStartupListener, type StartupListener } from './operator/startup-listener.ts'
import { createAgentSide, listenForAgents } from './startup/agent-side.ts'
import { withHeartbeat } from './startup/heartbeat.ts'
import { checkDatabase, openStorage, type Storage } from './startup/open-storage.ts'
import { periodicTasks } from './startup/periodic-tasks.ts'

export interface ServiceOptions {
  readonly clock?: Clock
  readonly log?: Logger
  /** Progress of the start, for a person. */
  readonly progress?: (line: string) => void
  /** The embedded database, where it has been started already. It ends with the service. */
  readonly embedded?: EmbeddedDatabase
  /** What `/metrics` answers, where the metrics of this process are not all of it. */
  readonly metricsOf?: (own: Registry) => OperatorDependencies['metrics']
  /** False: another process serves the operator port already, and no request may reach this one before it is ready. */
  readonly answersWhileStarting?: boolean
  /** Called at an interval while the schema is migrated. */
  readonly onMigrating?: () => void
}

/** Disposing of it drains: no new request is taken, those under way are answered, then everything stops. */
export interface RunningService extends AsyncDisposable {
  /** A process that only delivers (AEX_ROLE=worker) has no agent API. */
  readonly urls: { readonly agent: string | undefined; readonly operator: string }
  readonly operatorTokenFile: string
  /** Resolves when the embedded database died and could not be brought back. */
  readonly failed: Promise<Error>
}

/** Starts everything that one process does: database, migrations, keys, both listeners, periodic work. */
export async function startService(given: Config, options: ServiceOptions = {}): Promise<RunningService> {
  // Before the database: a key is made only where there is no data yet.
  const config = withMasterKey(given)
  const log = options.log ?? createLog(config.logLevel, { json: config.logAsJson ?? false })
  const progress = options.progress ?? (() => undefined)
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  if (options.embedded) cleanup.use(options.embedded)
  const clock = options.clock ?? systemClock
  const storage = await openStorage(config, cleanup, { ...options, progress, log, clock })
  const startedAt = clock.now()
  const registration = { processId: randomId('process'), role: config.role, startedAt }
  await checkDatabase(storage, config, log)
  const connections = connectionRules(config, log)
  const startup =
    options.answersWhileStarting === false
      ? undefined
      : cleanup.use(await openStartupListener(config, connections.operator))
  const migrating = prepareSchema(storage, registration, log)
  const schema = cleanup.use(
    await withHeartbeat(migrating, () => {
      log.info('the schema is being migrated: not ready yet')
      options.onMigrating?.()
    }),
  )
  const running = await startListeners(config, { ...storage, schema, connections, startup }, cleanup, {
    ...options,
    clock,
    log,
  })
  const stop = undo.move()
  return { ...running, failed: storage.failed, [Symbol.asyncDispose]: () => stop.disposeAsync() }
}

interface StartedParts extends Omit<Storage, 'failed'> {
  readonly schema: PreparedSchema
  readonly connections: ReturnType<typeof connectionRules>
  readonly startup: StartupListener | undefined
}

async function startListeners(
  config: Config & { readonly masterKey: Uint8Array },
  { db, operatorDb, openDirect, secondsSinceAnswer, schema, connections, startup }: StartedParts,
  cleanup: AsyncDisposableStack,
  { clock, log, metricsOf }: Pick<ServiceOptions, 'metricsOf'> & { clock: Clock; log: Logger },
) {
  const { profile, publicUrl, role, webhook } = config
  const masterKeys = masterKeyReload({ config, db, log })
  const webhookCa = caReload('webhook CA', webhook, log)
  const forwardedClientCa = caReload('client CA', config.forwardedClientCa ?? { ca: undefined }, log)
  const activity = createActivity(clock)
  /** The listeners are made after their certificate is first reported. */
  const listeners: { reload?: CertificateReload | undefined } = {}
  const tls = () => {
    const used = listeners.reload?.used() ?? config.tls
    return { certificate: used?.certificate, clientCa: used?.clientCa ?? forwardedClientCa.ca() }
  }
  const databaseFolder = config.databaseUrl === undefined ? config.dataDirectory : undefined
  const metrics = createMetrics()
  const databaseMetrics = createDatabaseMetrics(metrics.registry, {
    secondsSinceAnswer,
    isEmbedded: databaseFolder !== undefined,
  })
  const report = cleanup.use(
    createReport({
      db,
      clock,
      activity,
      processId: schema.processId,
      role,
      codeLevel: schema.codeLevel,
      tls,
      masterKeyIds: () => knownKeys(masterKeys.keys()).map(fingerprint),
      databaseFolder,
      onDisk: databaseMetrics.onDisk,
    }),
  )
  // Before the keys are opened: a rotation of the master key asks every process that reports.
  await report.run()
  const platformKeys = await openPlatformKeys({
    db,
    masterKeys: masterKeys.keys,
    profile,
    clock,
    newId: randomId,
  })
  const { secrets } = platformKeys
  const writes = createWriteMetrics(metrics.registry, db)
  const hasSeveralDatabaseHosts = namesSeveralHosts(config)
  const storage = createStorageMetrics(metrics.registry, { db, clock, hasSeveralDatabaseHosts })
  const logMetrics = createLogMetrics(metrics.registry)
  const tracing = config.tracing && (await startTracing(config.tracing, log, metrics.registry))
  if (tracing) cleanup.use(tracing)
  const expiryMetrics = createExpiryMetrics(metrics.registry, {
    db,
    clock,
    tls,
    webhookCa: webhookCa.ca,
  })
  const context: Context = {
    profile,
    clock,
    newId: randomId,
    publicUrl,
    externalIssuer: config.issuer,
    platform: platformKeys.signer,
    webhookKeys: platformKeys.webhook,
    allowPrivateReceivers: webhook.allowPrivate,
    hasSeveralDatabaseHosts,
    macKey: createSecretKey(deriveSecret(secrets.mac(), 'cursors')),
    evidenceVersion: schema.evidenceVersion,
    onPackageState: writes.onPackageState,
  }
  const logKeys = await openLog(db, context, platformKeys)
  const operatorTokenFile = join(config.dataDirectory, 'operator-token')
  if (config.createsFirstOperator) await ensureFirstOperator(db, operatorTokenFile, { clock })
  const counters = countActivity(activity)
  const { databaseReadUrl } = config
  const replica =
    databaseReadUrl === undefined || role === 'worker'
      ? undefined
      : cleanup.use(
          await openReadReplica(databaseReadUrl, { primary: db, clock, log, registry: metrics.registry }),
        )
  const agent =
    role === 'worker'
      ? undefined
      : createAgentSide(config, db, context, platformKeys, {
          log,
          clientCa: () => tls().clientCa,
          onAnswer(answer) {
            metrics.onAnswer(answer)
            counters.onAnswer(answer)
          },
          observer: { onCommitted: counters.onCommitted, onBatch: writes.onBatch, tracing },
          tracing,
          connections: connections.agent,
          bodies: createAgentBodyBudget(profile),
          replica,
          transparency: { keys: logKeys, witnesses: config.witnesses },
        })
  if (agent) writes.watch(agent.mutations)
  let isReady = false
  const operatorDependencies: OperatorDependencies = {
    db: operatorDb,
    context,
    log,
    webhookKeys: platformKeys.webhook,
    rotatingKeys: platformKeys,
    masterKeys: masterKeys.keys,
    settings: showConfig(config),
    metrics: metricsOf?.(metrics.registry) ?? metrics.registry,
    isReady: () => isReady,
    connections: connections.operator,
    bodies: createOperatorBodyBudget(profile),
    ...(config.tls && { tls: config.tls }),
  }
  const operator = createOperatorServer(operatorDependencies)
  openConsole(operator, operatorDependencies, { config, key: deriveSecret(secrets.mac(), 'console') })
  const mail = config.smtp && cleanup.use(await openMail(config.smtp))
  const alerts = { db, profile, clock, publicUrl, log, send: mail?.send }
  const reload = reloadListeners(config.tls, { agent: agent?.app, operator }, log)
  listeners.reload = reload
  await agent?.rateLimit.task.run()
  await expiryMetrics.run()
  await makePartitions(db, clock.now())
  const tasks = [
    ...periodicTasks(db, context, platformKeys, storage.onRetention, log),
    logAlertTask({ db, profile, clock, onStatus: logMetrics.onStatus }),
    expiryAlertTask({ db, profile, clock }),
    expiryMetrics,
    alertTask(alerts),
    report,
    schema.task,
    ...(agent ? [agent.rateLimit.task] : []),
    ...masterKeys.tasks,
    ...webhookCa.tasks,
    ...forwardedClientCa.tasks,
    ...(reload ? [reload] : []),
    storage.task,
  ]
  cleanup.use(startPeriodic(tasks, log))
  if (role !== 'api') {
    cleanup.use(
      startDelivery({
        db,
        openListener: () => openDirect('sessions'),
        profile,
        clock,
        newId: randomId,
        log,
        webhookKeys: platformKeys.webhook,
        webhook: { ca: webhookCa.ca, allowPrivate: webhook.allowPrivate },
        metrics: metrics.registry,
        onAttempt: counters.onAttempt,
        tracing,
      }),
    )
    cleanup.use(
      startSequencer({
        db,
        clock,
        profile,
        log,
        file: checkpointFile(config.dataDirectory),
        keys: logKeys,
        witnesses: config.witnesses,
        holder: schema.processId,
        metrics: logMetrics,
      }),
    )
  }
  const agentUrl = agent && (await listenForAgents(agent, config, cleanup))
  await startup?.close()
  const operatorUrl = await operator.listen({ host: config.operatorHost, port: config.operatorPort })
  cleanup.defer(() => operator.close())
  const setReady = (ready: boolean) => {
    isReady = ready
    metrics.setReady(ready)
  }
  cleanup.defer(() => setReady(false))
  setReady(true)
  log.info({ agent: agentUrl, operator: operatorUrl, public_url: publicUrl }, 'ready')
  return { urls: { agent: agentUrl, operator: operatorUrl }, operatorTokenFile }
}

/** Loaded where there is a mail server: most exchanges have none, and it is a tenth of all we load. */
async function openMail(smtp: NonNullable<Config['smtp']>) {
  const { mailTransport } = await import('./features/alerts/mail-transport.ts')
  return mailTransport(smtp)
}

/** Loaded where a collector is set: without one, no code of OpenTelemetry's SDK runs. */
async function startTracing(tracing: NonNullable<Config['tracing']>, log: Logger, metrics: Registry) {
  const { openTracing } = await import('./kernel/open-tracing.ts')
  return openTracing(tracing, { log, metrics })
}
