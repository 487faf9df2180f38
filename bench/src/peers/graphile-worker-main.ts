/** graphile-worker as a user would run it, in a separate process. Started by the area `peers`. */

import { Logger, makeWorkerUtils, run, type WorkerUtils } from 'graphile-worker'
import { repeat } from '../measure.ts'
import { answerCalls } from '../processes/calls.ts'

const TASK = 'package'
const CONCURRENCY = 16
const CONNECTIONS = 20
const logger = new Logger(() => () => undefined)
let utils: WorkerUtils | undefined
let connectionString = ''
let waiting = 0

function started(): WorkerUtils {
  if (!utils) throw new Error('graphile-worker was not started')
  return utils
}

const calls = {
  async start(databaseUrl: string): Promise<void> {
    connectionString = databaseUrl
    utils = await makeWorkerUtils({ connectionString, maxPoolSize: CONNECTIONS, logger })
    await utils.migrate()
  },
  /** Durable jobs per second, for this many clients. */
  enqueue: (payload: object, milliseconds: number, clients: number): Promise<number> =>
    repeat(
      async () => {
        await started().addJob(TASK, payload)
        waiting++
      },
      milliseconds,
      clients,
    ),
  /** Processes all jobs; the task does nothing. */
  async work(): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<void>()
    let done = 0
    const from = performance.now()
    const runner = await run({
      connectionString,
      maxPoolSize: CONNECTIONS,
      concurrency: CONCURRENCY,
      logger,
      noHandleSignals: true,
      crontab: '',
      taskList: {
        [TASK]: async () => {
          if (++done >= waiting) resolve()
        },
      },
    })
    await promise
    const seconds = (performance.now() - from) / 1_000
    await runner.stop()
    waiting = 0
    return done / seconds
  },
  stop: () => started().release(),
}

export type GraphileWorkerCalls = typeof calls

answerCalls(calls)
