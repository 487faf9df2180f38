import { join } from 'node:path'
import type { EmbeddedDatabase } from '@agent-exchange/database/embedded'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { systemClock, type Clock } from '@agent-exchange/server/clock'
import { createLog } from '@agent-exchange/server/create-log'
import { watchKeyModule } from '@agent-exchange/server/key-module'
import { listenAddress } from '@agent-exchange/server/settings'
import { withMasterKey, type Config } from './config/index.ts'
import { prepareSchema } from './features/upgrades/prepare-schema.ts'
import { connectionRules } from './http/connection-rules.ts'
import { randomId } from './kernel/ids.ts'
import type { OperatorDependencies } from './operator/dependencies.ts'
import { ensureFirstOperator } from './operator/first-operator.ts'
import { openStartupListener, type StartupListener } from './operator/startup-listener.ts'
import { createAgentSide, listenForAgents } from './startup/agent-side.ts'
import { startTasks, startWorkers } from './startup/background-work.ts'
import type { Base } from './startup/base.ts'
import { withHeartbeat } from './startup/heartbeat.ts'
import { openExchange } from './startup/open-exchange.ts'
import { checkDatabase, openStorage } from './startup/open-storage.ts'
import { createOperatorSide } from './startup/operator-side.ts'
import { createProcessMetrics } from './startup/process-metrics.ts'
import { startReport } from './startup/process-report.ts'
import { watchFiles } from './startup/watched-files.ts'

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
  const clock = options.clock ?? systemClock
  const progress = options.progress ?? (() => undefined)
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  if (options.embedded) cleanup.use(options.embedded)
  const storage = await openStorage(config, cleanup, { ...options, progress, log, clock })
  const registration = { processId: randomId('process'), role: config.role, startedAt: clock.now() }
  await checkDatabase(storage, config, log)
  const connections = connectionRules(config, log)
  const startup =
    options.answersWhileStarting === false
      ? undefined
      : cleanup.use(await openStartupListener(config, connections.operator))
  const schema = cleanup.use(
    await withHeartbeat(prepareSchema(storage, registration, log), () => {
      log.info('the schema is being migrated: not ready yet')
      options.onMigrating?.()
    }),
  )
  const base: Base = { config, clock, log, cleanup, schema, ...storage }
  const running = await startParts(base, { ...options, connections, startup })
  const stop = undo.move()
  return { ...running, failed: storage.failed, [Symbol.asyncDispose]: () => stop.disposeAsync() }
}

interface Given extends Pick<ServiceOptions, 'metricsOf'> {
  readonly connections: ReturnType<typeof connectionRules>
  readonly startup: StartupListener | undefined
}

/** The parts in the order in which they start. `base.cleanup` stops them in the opposite one. */
async function startParts(base: Base, { connections, startup, metricsOf }: Given) {
  const { config, db, clock, log, cleanup } = base
  const files = watchFiles(base)
  const metrics = createProcessMetrics(base, files)
  const report = await startReport(base, files, metrics)
  const exchange = await openExchange(base, files, metrics)
  const tracing = config.tracing && (await startTracing(config.tracing, log, metrics.registry))
  if (tracing) cleanup.use(tracing)
  const operatorTokenFile = join(config.dataDirectory, 'operator-token')
  if (config.createsFirstOperator) await ensureFirstOperator(db, operatorTokenFile, { clock })

  const agent =
    config.role === 'worker'
      ? undefined
      : await createAgentSide(base, exchange, metrics, {
          tls: files.tls,
          connections: connections.agent,
          tracing,
        })
  let isReady = false
  const operator = createOperatorSide(base, exchange, {
    masterKeys: files.masterKeys,
    metrics: metricsOf?.(metrics.registry) ?? metrics.registry,
    isReady: () => isReady,
    connections: connections.operator,
  })
  files.follow({ agent: agent?.app, operator })
  await agent?.rateLimit.task.run()
  const ownTasks = [
    report,
    ...(agent ? [agent.rateLimit.task] : []),
    ...files.tasks(),
    ...(exchange.keyModule ? [watchKeyModule(exchange.keyModule, log)] : []),
  ]
  await startTasks(base, exchange, metrics, ownTasks)
  if (config.role !== 'api') startWorkers(base, exchange, metrics, { webhookCa: files.webhookCa, tracing })

  const agentUrl = agent && (await listenForAgents(agent, base))
  await startup?.close()
  const operatorUrl = await operator.listen({
    host: listenAddress(config.operatorHost),
    port: config.operatorPort,
  })
  cleanup.defer(() => operator.close())
  const setReady = (ready: boolean) => {
    isReady = ready
    metrics.setReady(ready)
  }
  cleanup.defer(() => setReady(false))
  setReady(true)
  log.info({ agent: agentUrl, operator: operatorUrl, public_url: config.publicUrl }, 'ready')
  return { urls: { agent: agentUrl, operator: operatorUrl }, operatorTokenFile }
}

/** Loaded where a collector is set: without one, no code of OpenTelemetry's SDK runs. */
async function startTracing(tracing: NonNullable<Config['tracing']>, log: Logger, metrics: Registry) {
  const { openTracing } = await import('./kernel/open-tracing.ts')
  return openTracing(tracing, { log, metrics })
}
