/** A reference server with as many processes as the service. Started by `startReferenceProcess`. */

import cluster from 'node:cluster'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { answerCalls } from '../processes/calls.ts'
import { startFloor } from './floor-server.ts'
import { startReference } from './reference-server.ts'
import type { ReferenceSettings } from './reference-settings.ts'

async function start(settings: ReferenceSettings): Promise<void> {
  if (settings.server.kind === 'floor') await startFloor(settings)
  else await startReference(settings)
}

async function fork(settings: ReferenceSettings): Promise<void> {
  const worker = cluster.fork()
  worker.send(settings)
  await once(worker, 'listening')
}

const calls = {
  async start(settings: ReferenceSettings, workers: number): Promise<void> {
    if (workers === 1) {
      await start(settings)
      return
    }
    cluster.setupPrimary({ exec: fileURLToPath(import.meta.url), serialization: 'advanced' })
    await Promise.all(Array.from({ length: workers }, () => fork(settings)))
  },
}

export type ReferenceCalls = typeof calls

if (cluster.isPrimary) answerCalls(calls)
else process.once('message', (settings: ReferenceSettings) => void start(settings))
