import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { tableOf, type Area, type AreaContext, type AreaResult, type Ratio } from '../area.ts'
import { startReceiver } from '../delivery/receiver.ts'
import { sendToArrival } from '../end-to-end/send-to-arrival.ts'
import {
  endpointsOf,
  pidsOf,
  provision,
  type DeliveringExchange,
  type Layout,
  type Rig,
} from '../exchange/delivering-exchange.ts'
import { CLIENTS } from '../exchange/market.ts'
import { startLoad } from '../load/load.ts'
import { withHeldBodies } from './held-bodies.ts'
import { MEMORY, memoryOf, probed } from './memory-of.ts'
import type { MemoryReading } from './probe-settings.ts'

/** What the processes of an exchange keep in memory. */
export const memoryArea: Area = {
  name: 'memory',
  what: 'memory at rest and after --minutes of 64 clients: heap, code, buffers; what V8 flags cost and give',
  isLong: true,
  run,
}

const REST_MS = { full: 30_000, quick: 5_000 }
const QUICK_SECONDS = 10
/** Of the load of each flag. */
const FLAG_SECONDS = { full: 60, quick: 10 }
/** Packages that are made before they are sent. */
const STEP = 3_000
const STEP_LIMIT_MS = 60_000
const RECEIVERS = new Map([[1, 16]])
const FLAGS: readonly (readonly string[])[] = [
  ['--max-semi-space-size=4'],
  ['--max-semi-space-size=8'],
  ['--max-semi-space-size=32'],
  ['--max-old-space-size=128'],
  ['--optimize-for-size'],
  ['--max-semi-space-size=8', '--optimize-for-size'],
]
/** The service collects the bodies that it received, and the kernel counts them. */
const HELD_MS = 2_000

/** With the speed of the load before the reading. */
interface Reading extends MemoryReading {
  readonly perSecond: number
  readonly serviceMicroseconds: number
}

async function run({ quick, minutes, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  const seconds = quick ? QUICK_SECONDS : minutes * 60
  progress('starting PostgreSQL, a receiver and organizations')
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  const receiver = await startReceiver(bed, cleanup, endpointsOf(RECEIVERS))
  const rig: Rig = { load: cleanup.use(startLoad()), receiver, postgres: bed.postgres }
  const options = { name: 'memory', senders: CLIENTS, receivers: RECEIVERS }
  const start = await provision(bed, rig, cleanup, options)
  const file = join(bed.folder.path, 'memory')
  const read = (pid: number) => memoryOf(pid, file)
  const started = (layout: Layout, name: string, flags: readonly string[] = []) =>
    start(layout, name, probed(file, flags))
  const rows = new Map<string, Reading>()

  progress('at rest')
  {
    await using exchange = await started('together', 'rest')
    await sleep(quick ? REST_MS.quick : REST_MS.full)
    rows.set('at rest', { ...(await read(exchange.api.pid)), ...UNKNOWN })
    const speed = await load(rig, exchange, seconds, progress)
    rows.set(`after ${seconds} s of ${CLIENTS} clients`, { ...(await read(exchange.api.pid)), ...speed })
    progress('request bodies up to the limit of O-14')
    const held = await withHeldBodies(await exchange.target(), DEFAULT_PROFILE['O-14'], async () => {
      await sleep(HELD_MS)
      return read(exchange.api.pid)
    })
    rows.set('with request bodies up to the limit of O-14', { ...held, ...UNKNOWN })
  }
  const [atRest, loaded] = [...rows.values()]
  let apart = 0
  {
    await using exchange = await started('apart', 'apart')
    const speed = await load(rig, exchange, seconds, progress)
    for (const [i, pid] of pidsOf(exchange).entries()) {
      const reading = await read(pid)
      apart += reading.resident
      const label = `two roles apart: ${i === 0 ? 'API' : 'worker'}`
      rows.set(label, { ...reading, ...(i === 0 ? speed : UNKNOWN) })
    }
  }
  const flagged = new Map<string, Reading>()
  for (const flags of [[], ...FLAGS]) {
    const label = flags.length === 0 ? 'no flag' : flags.join(' ')
    progress(label)
    await using exchange = await started('together', label.replaceAll(/\W+/gu, '-'), flags)
    const speed = await load(rig, exchange, quick ? FLAG_SECONDS.quick : FLAG_SECONDS.full, progress)
    flagged.set(label, { ...(await read(exchange.api.pid)), ...speed })
  }
  const table = (title: string, readings: ReadonlyMap<string, Reading>) =>
    tableOf<Reading>(
      title,
      [
        ...MEMORY,
        { member: 'perSecond', id: 'per_second', head: 'packages/s' },
        { member: 'serviceMicroseconds', id: 'service_cpu_us', head: 'service µs' },
      ],
      [...readings].map(([label, reading]) => ({
        id: `memory_${label.replaceAll(/\W+/gu, '_')}`,
        label,
        list: [reading],
      })),
    )
  return {
    tables: [
      table('Memory of a process, in MB; database outside', rows),
      table(`Memory by V8 flags, API and worker in one process`, flagged),
    ],
    ratios: [
      ofLimit('memory_at_rest_to_limit', 'memory at rest', atRest?.resident, 110),
      ofLimit('memory_after_load_to_limit', `memory after ${seconds} s of load`, loaded?.resident, 200),
      ofLimit('memory_apart_to_limit', 'memory of two roles apart', apart, 300),
    ],
    notes: [
      'Resident memory includes the program text of Node, about 50 MB that processes share. External: buffers outside the ' +
        'heap. Each line after the first table has a new process; packages are sent and delivered to one endpoint each.',
    ],
  }
}

const UNKNOWN = { perSecond: Number.NaN, serviceMicroseconds: Number.NaN }

function ofLimit(id: string, label: string, megabytes = Number.NaN, limit = 1): Ratio {
  return { id, label: `${label}, of ${limit} MB`, value: megabytes / limit, wanted: { at: 'most', must: 1 } }
}

/** 64 clients for this time, in steps, because packages are made beforehand. Returns the speed of the last step. */
async function load(
  rig: Rig,
  exchange: DeliveringExchange,
  seconds: number,
  progress: AreaContext['progress'],
): Promise<Pick<Reading, 'perSecond' | 'serviceMicroseconds'>> {
  const end = performance.now() + seconds * 1_000
  let speed = UNKNOWN
  while (performance.now() < end) {
    const measured = await sendToArrival(rig, exchange, {
      fanOut: 1,
      rampMs: 0,
      measureMs: STEP_LIMIT_MS,
      packages: STEP,
    })
    speed = { perSecond: measured.packagesPerSecond, serviceMicroseconds: measured.serviceMicroseconds }
    const left = Math.max(0, Math.round((end - performance.now()) / 1_000))
    progress(
      `${Math.round(speed.perSecond)} packages/s, ${Math.round(measured.megabytes)} MB, ${left} s left`,
    )
  }
  return speed
}
