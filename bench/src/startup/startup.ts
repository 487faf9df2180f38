import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '@agent-exchange/testkit'
import { listOf, type Area, type AreaContext, type AreaResult } from '../area.ts'
import { makeFolder } from '../exchange/folder.ts'
import { serve } from '../processes/serve.ts'
import { median } from '../statistics.ts'
import { residentMegabytes } from '../processes/tree.ts'

/** Start-up time and memory at rest. */
export const startupArea: Area = {
  name: 'startup',
  what: 'seconds from aex serve to ready, and resident memory at rest',
  run,
}

const START_UP_LIMIT_SECONDS = 1.5
const MEMORY_LIMIT_MB = 150
const STARTS = { full: 7, quick: 2 }
/** Wait for garbage collection and periodic jobs after the start. */
const REST_MS = { full: 10_000, quick: 2_000 }

async function run({ quick, workers, progress }: AreaContext): Promise<AreaResult> {
  using folder = makeFolder()
  const start = async () => {
    const [port, operatorPort] = await freePorts(2)
    const url = `http://127.0.0.1:${port}`
    const operatorUrl = `http://127.0.0.1:${operatorPort}`
    const env = {
      AEX_PORT: String(port),
      AEX_OPERATOR_PORT: String(operatorPort),
      AEX_DATA_DIR: join(folder.path, 'data'),
      AEX_WORKERS: String(workers),
    }
    return serve({ url, operatorUrl, env, logFile: join(folder.path, 'service.log') })
  }
  progress('first start, on an empty folder')
  const first = await start()
  await first[Symbol.asyncDispose]()
  const times: number[] = []
  const memory: number[] = []
  const starts = quick ? STARTS.quick : STARTS.full
  for (let i = 1; i <= starts; i++) {
    await using service = await start()
    times.push(service.readyAfterMs / 1_000)
    progress(`${i}/${starts} ready after ${(times.at(-1) ?? 0).toFixed(2)} s`)
    if (i < starts) continue
    await sleep(quick ? REST_MS.quick : REST_MS.full)
    memory.push(residentMegabytes(service.pid))
  }
  return {
    tables: [
      listOf('Start-up and memory', [
        ['start_up_seconds', 'start on an existing data folder, to ready, s', times],
        ['first_start_seconds', 'first start, which creates the database, s', [first.readyAfterMs / 1_000]],
        ['memory_at_rest_mb', 'resident memory at rest, without PostgreSQL, MB', memory],
      ]),
    ],
    ratios: [
      {
        id: 'start_up_to_limit',
        label: `seconds to ready, of ${START_UP_LIMIT_SECONDS}`,
        value: median(times) / START_UP_LIMIT_SECONDS,
        wanted: { at: 'most', must: 1 },
      },
      {
        id: 'memory_to_limit',
        label: `memory at rest, of ${MEMORY_LIMIT_MB} MB`,
        value: median(memory) / MEMORY_LIMIT_MB,
        wanted: { at: 'most', must: 1 },
      },
    ],
    notes: [
      'From the start of the process (aex serve, run from source) to the first 200 of /readyz, its PostgreSQL ' +
        'included.',
    ],
  }
}
