/** pg-boss as a user would run it, in a separate process. Started by the area `peers`. */

import type { DatabaseTarget } from '../exchange/postgres-server.ts'
import { PgBoss } from 'pg-boss'
import { repeat } from '../measure.ts'
import { answerCalls } from '../processes/calls.ts'

const QUEUE = 'packages'
const BATCH = 64
const CONNECTIONS = 20
const SHORTEST_POLL_SECONDS = 0.5
let boss: PgBoss | undefined
let waiting = 0

function started(): PgBoss {
  if (!boss) throw new Error('pg-boss was not started')
  return boss
}

const calls = {
  async start(database: DatabaseTarget): Promise<void> {
    boss = new PgBoss({ ...database, max: CONNECTIONS })
    boss.on('error', (error) => console.error(error))
    await boss.start()
    await boss.createQueue(QUEUE)
  },
  /** Durable jobs per second, for this many clients. */
  enqueue: (payload: object, milliseconds: number, clients: number): Promise<number> =>
    repeat(
      async () => {
        await started().send(QUEUE, payload)
        waiting++
      },
      milliseconds,
      clients,
    ),
  /** Processes all jobs; the handler does nothing. */
  async work(): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<void>()
    let done = 0
    const from = performance.now()
    const options = {
      batchSize: BATCH,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: SHORTEST_POLL_SECONDS,
    }
    await started().work(QUEUE, options, async (jobs) => {
      done += jobs.length
      if (done >= waiting) resolve()
    })
    await promise
    const seconds = (performance.now() - from) / 1_000
    await started().offWork(QUEUE)
    waiting = 0
    return done / seconds
  },
  stop: () => started().stop({ graceful: false }),
}

export type PgBossCalls = typeof calls

answerCalls(calls)
