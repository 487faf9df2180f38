import { addressOf } from '@agent-exchange/database'
import { startEmbedded } from '@agent-exchange/database/embedded'
import { collectStartupGarbage } from '@agent-exchange/server/collect-startup-garbage'
import { withMasterKey, type Config } from '../config/index.ts'
import type { RunningService, ServiceOptions } from '../service.ts'
import { startWorkerPool } from './worker-pool.ts'

/** A little more than the pool of one service, and some for backups and people. */
const WORKER_CONNECTIONS = 33
const SPARE_CONNECTIONS = 50

/**
 * The service as `aex serve` runs it: in this process, or, with AEX_WORKERS above one, in that number of processes, which
 * share both ports, while this one has the embedded database and replaces workers that die.
 */
export async function runService(config: Config, options: ServiceOptions = {}): Promise<RunningService> {
  // Before the database: a key is made only where there is no data yet.
  const complete = withMasterKey(config)
  return config.workers === 1 ? runHere(complete, options) : runWorkers(complete, options)
}

/** The database starts in processes of its own, so everything else is loaded meanwhile. */
async function runHere(config: Config, options: ServiceOptions): Promise<RunningService> {
  const { databaseUrl, dataDirectory } = config
  const starting =
    databaseUrl === undefined
      ? startEmbedded({ dataDirectory, log: options.progress ?? (() => undefined) })
      : undefined
  // Awaited below; this avoids an unhandled rejection.
  starting?.catch(() => undefined)
  const { startService } = await import('../service.ts')
  const embedded = await starting
  const service = await startService(config, { ...options, ...(embedded && { embedded }) })
  collectStartupGarbage()
  return service
}

async function runWorkers(
  config: Config,
  { progress = () => undefined }: ServiceOptions,
): Promise<RunningService> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  let { databaseUrl } = config
  let failed = new Promise<Error>(() => undefined)
  if (databaseUrl === undefined) {
    const settings = { max_connections: String(SPARE_CONNECTIONS + config.workers * WORKER_CONNECTIONS) }
    const { dataDirectory } = config
    const embedded = cleanup.use(await startEmbedded({ dataDirectory, log: progress, settings }))
    databaseUrl = addressOf(embedded.connection)
    failed = embedded.failed
  }
  const { urls, operatorTokenFile } = cleanup.use(
    await startWorkerPool(config.workers, { ...config, databaseUrl, workers: 1 }, progress),
  )
  const stop = undo.move()
  return { urls, operatorTokenFile, failed, [Symbol.asyncDispose]: () => stop.disposeAsync() }
}
