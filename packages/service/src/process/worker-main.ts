/** A process of its own on the shared ports. Started by `startWorkerPool`, never by hand. */

import { collectStartupGarbage } from '@agent-exchange/server/collect-startup-garbage'
import { startService, type RunningService } from '../service.ts'
import { createSharedMetrics } from './shared-metrics.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'

let running: Promise<RunningService> | undefined

// Where nobody listens any more, the end of the channel says so: it stops us.
const tell = (message: FromWorker) => void process.send?.(message, undefined, undefined, () => undefined)
const metrics = createSharedMetrics(tell)

async function start({ config, isFirst }: Extract<ToWorker, { kind: 'start' }>): Promise<void> {
  try {
    running = startService(config, {
      metricsOf: metrics.metricsOf,
      // The workers share the port: later ones would answer 503 in the place of those that are ready.
      answersWhileStarting: isFirst,
      onMigrating: () => tell({ kind: 'migrating' }),
    })
    const { urls, operatorTokenFile } = await running
    collectStartupGarbage()
    tell({ kind: 'ready', urls, operatorTokenFile })
  } catch (error) {
    process.exitCode = 1
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
}

async function stop(): Promise<void> {
  try {
    await (await running)?.[Symbol.asyncDispose]()
  } finally {
    process.exit()
  }
}

process.on('message', (message: ToWorker) => {
  if (message.kind === 'start') void start(message)
  else if (message.kind === 'stop') void stop()
  else if (message.kind === 'metrics_of_all') metrics.receive(message)
  // What cannot be known is counted as not answered.
  else void metrics.report().catch(() => undefined)
})
// Where the first process is gone, the embedded database is going too.
process.on('disconnect', () => void stop())
// A terminal and a service manager signal the whole group: the first process decides when we stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
