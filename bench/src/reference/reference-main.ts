/** The floor or the naive server, in as many processes as the service has. Started by `startReferenceProcess`. */

import cluster from 'node:cluster'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { answerCalls } from '../processes/calls.ts'
import { startReference, type ReferenceSettings } from './reference-server.ts'

async function fork(settings: ReferenceSettings): Promise<void> {
  const worker = cluster.fork()
  worker.send(settings)
  await once(worker, 'listening')
}

const calls = {
  async start(settings: ReferenceSettings, workers: number): Promise<void> {
    if (workers === 1) {
      await startReference(settings)
      return
    }
    cluster.setupPrimary({ exec: fileURLToPath(import.meta.url), serialization: 'advanced' })
    await Promise.all(Array.from({ length: workers }, () => fork(settings)))
  },
}

export type ReferenceCalls = typeof calls

if (cluster.isPrimary) answerCalls(calls)
else process.once('message', (settings: ReferenceSettings) => void startReference(settings))
