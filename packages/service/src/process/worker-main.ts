/** A process of its own on the shared ports. Started by `startWorkerPool`, never by hand. */

import { startService, type RunningService } from '../service.ts'
import { giveBackMemory } from './give-back-memory.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'

let running: Promise<RunningService> | undefined

const tell = (message: FromWorker) => process.send?.(message)

async function start({ config }: Extract<ToWorker, { kind: 'start' }>): Promise<void> {
  try {
    running = startService(config)
    const { urls, operatorTokenFile } = await running
    tell({ kind: 'ready', urls, operatorTokenFile })
    setImmediate(giveBackMemory)
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

process.on('message', (message: ToWorker) => void (message.kind === 'start' ? start(message) : stop()))
// Where the first process is gone, the embedded database is going too.
process.on('disconnect', () => void stop())
// A terminal and a service manager signal the whole group: the first process decides when we stop.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
