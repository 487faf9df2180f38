import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/index.ts'
import { createPoolMetrics } from './pool-metrics.ts'
import type { FromWorker, ToWorker, WorkerAddresses } from './worker-messages.ts'

/** Not counting the time in which the worker reports that it migrates the schema. */
const READY_LIMIT_MS = 60_000
const STOP_LIMIT_MS = 30_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 30_000
const STABLE_AFTER_MS = 60_000

export type WorkerPool = WorkerAddresses & AsyncDisposable

/** Keeps a number of workers running: one that dies is replaced, ever more slowly while they keep dying. */
export async function startWorkerPool(
  count: number,
  config: Config,
  log: (line: string) => void,
  readyLimitMs = READY_LIMIT_MS,
): Promise<WorkerPool> {
  const extension = extname(import.meta.url)
  cluster.setupPrimary({
    exec: fileURLToPath(new URL(`worker-main${extension}`, import.meta.url)),
    args: [],
    // From source, workspaces resolve to their `source` export.
    execArgv: extension === '.ts' ? ['--conditions=source'] : [],
    serialization: 'advanced',
  })
  const workers = new Set<Worker>()
  const metrics = createPoolMetrics(count)
  let isStopping = false
  let deaths = 0

  const fork = async (isFirst = false): Promise<WorkerAddresses> => {
    const worker = cluster.fork()
    workers.add(worker)
    worker.once('exit', () => workers.delete(worker))
    answerScrapes(worker)
    const addresses = await readiness(worker, { kind: 'start', config, isFirst }, readyLimitMs)
    reportMetrics(worker)
    const stable = setTimeout(() => (deaths = 0), STABLE_AFTER_MS).unref()
    worker.once('exit', (code, signal) => {
      clearTimeout(stable)
      if (!isStopping) void replace(`Worker ${worker.process.pid} ended (${signal ?? code})`)
    })
    return addresses
  }
  const reportMetrics = (worker: Worker) => {
    const member = metrics.join(() => tell(worker, { kind: 'report_metrics' }))
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'metrics') member.answer(message.metrics)
    })
    worker.once('exit', member.leave)
  }
  /** From the start: it may be scraped before it has reported that it is ready. */
  const answerScrapes = (worker: Worker) =>
    worker.on('message', (message: FromWorker) => {
      if (message.kind !== 'metrics_wanted') return
      const { request } = message
      metrics.text().then(
        (text) => tell(worker, { kind: 'metrics_of_all', request, text }),
        (error: unknown) => log(`The workers' metrics could not be put together: ${String(error)}`),
      )
    })
  const replace = async (why: string): Promise<void> => {
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** deaths++, LONGEST_PAUSE_MS)
    log(`${why}; starting another in ${pause / 1_000} s`)
    await sleep(pause, undefined, { ref: false })
    if (isStopping) return
    await fork().catch((error: unknown) => replace(`A worker did not start: ${String(error)}`))
  }
  const stop = async () => {
    isStopping = true
    await Promise.all([...workers].map(stopWorker))
  }
  try {
    const addresses = await fork(true)
    await Promise.all(Array.from({ length: count - 1 }, () => fork()))
    return { ...addresses, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function readiness(worker: Worker, start: ToWorker, limitMs: number): Promise<WorkerAddresses> {
  const { promise, resolve, reject } = Promise.withResolvers<WorkerAddresses>()
  const limit = setTimeout(() => reject(new Error('a worker did not become ready in time')), limitMs)
  const listen = (message: FromWorker) => {
    if (message.kind === 'ready') resolve(message)
    if (message.kind === 'migrating') limit.refresh()
    if (message.kind === 'failed') reject(new Error(message.message))
  }
  worker.on('message', listen)
  worker.once('exit', () => reject(new Error('a worker ended before it was ready')))
  tell(worker, start)
  try {
    return await promise
  } catch (error) {
    worker.process.kill('SIGKILL')
    throw error
  } finally {
    clearTimeout(limit)
    worker.off('message', listen)
  }
}

/** One that has just died is known to be dead a moment later, and must not take us along meanwhile. */
function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => undefined)
}

/** Lets it answer what it has begun. */
async function stopWorker(worker: Worker): Promise<void> {
  if (worker.isDead()) return
  const gone = once(worker, 'exit')
  const force = setTimeout(() => worker.process.kill('SIGKILL'), STOP_LIMIT_MS)
  tell(worker, { kind: 'stop' })
  await gone
  clearTimeout(force)
}
