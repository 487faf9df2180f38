import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { tableOf, type Area, type AreaContext, type AreaResult, type Ratio, type Table } from '../area.ts'
import { startReceiver } from '../delivery/receiver.ts'
import { sendToArrival, type SendToArrival } from '../end-to-end/send-to-arrival.ts'
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
import { FLAG_SETS, NO_FLAGS, settingsOf, type FlagSet } from './flag-sets.ts'
import { withHeldBodies } from './held-bodies.ts'
import { MEMORY, memoryOf, probed } from './memory-of.ts'
import { median } from '../statistics.ts'
import type { MemoryReading } from './probe-settings.ts'

/** What the processes of an exchange keep in memory. */
export const memoryArea: Area = {
  name: 'memory',
  what: 'memory at rest and after --minutes of 64 clients: heap, code, buffers; what V8 flags cost and give',
  isLong: true,
  run,
}

const REST_MS = { full: 30_000, quick: 5_000 }
const MINUTES = 5
const QUICK_SECONDS = 10
/** Of the load of each flag. */
const FLAG_SECONDS = { full: 60, quick: 10 }
/** Packages that are made before they are sent. */
const STEP = 3_000
const LEAST_STEPS = 2
const STEP_LIMIT_MS = 60_000
const RECEIVERS = new Map([[1, 16]])
/** The service collects the bodies that it received, and the kernel counts them. */
const HELD_MS = 2_000

/** With the speed of the load before the reading. */
interface Reading extends MemoryReading {
  readonly perSecond: number
  readonly serviceMicroseconds: number
}

/** The parts that every measurement of this area shares. */
interface Bench extends Pick<AreaContext, 'progress'> {
  readonly rig: Rig
  readonly start: (layout: Layout, name: string, set?: FlagSet) => Promise<DeliveringExchange>
  readonly read: (pid: number) => Promise<MemoryReading>
  readonly seconds: number
}

type Readings = ReadonlyMap<string, Reading>

async function run({ quick, minutes, flagSets, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  const seconds = quick ? QUICK_SECONDS : (minutes ?? MINUTES) * 60
  progress('starting PostgreSQL, a receiver and organizations')
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  const receiver = await startReceiver(bed, cleanup, endpointsOf(RECEIVERS))
  const rig: Rig = { load: cleanup.use(startLoad()), receiver, postgres: bed.postgres }
  const options = { name: 'memory', senders: CLIENTS, receivers: RECEIVERS }
  const start = await provision(bed, rig, cleanup, options)
  const file = join(bed.folder.path, 'memory')
  const bench: Bench = {
    rig,
    start(layout, name, set = NO_FLAGS) {
      const { flags, env } = settingsOf(set)
      return start(layout, name, { ...env, ...probed(file, flags) })
    },
    read: (pid) => memoryOf(pid, file),
    progress,
    seconds,
  }
  const isFlagsOnly = flagSets !== undefined && flagSets.length > 0
  const processes = isFlagsOnly ? undefined : await measureProcesses(bench, quick)
  const flagSeconds = quick ? FLAG_SECONDS.quick : FLAG_SECONDS.full
  const flagged = await measureFlags({ ...bench, seconds: isFlagsOnly ? seconds : flagSeconds }, flagSets)
  return {
    tables: [
      ...(processes
        ? [tableOfReadings('Memory of a process, in MB; database outside', processes.readings)]
        : []),
      ...(flagged.size > 0
        ? [tableOfReadings('Memory by V8 flags, API and worker in one process', flagged)]
        : []),
    ],
    ratios: processes?.ratios ?? [],
    notes: [
      'Resident memory includes the program text of Node, about 50 MB that processes share. External: buffers outside the ' +
        'heap. Each line after the first table has a new process; packages are sent and delivered to one endpoint each.',
      ...(flagged.size > 0
        ? [
            'Each set of flags has one process and one run: repeat a run before you believe a small difference.',
          ]
        : []),
    ],
  }
}

/** At rest, under load, with held bodies, and as two processes. */
async function measureProcesses(
  bench: Bench,
  quick: boolean,
): Promise<{ readings: Readings; ratios: Ratio[] }> {
  const { start, read, seconds, progress } = bench
  const rows = new Map<string, Reading>()
  progress('at rest')
  {
    await using exchange = await start('together', 'rest')
    await sleep(quick ? REST_MS.quick : REST_MS.full)
    rows.set('at rest', { ...(await read(exchange.api.pid)), ...UNKNOWN })
    const speed = await load(bench, exchange)
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
    await using exchange = await start('apart', 'apart')
    const speed = await load(bench, exchange)
    for (const [i, pid] of pidsOf(exchange).entries()) {
      const reading = await read(pid)
      apart += reading.resident
      const label = `two roles apart: ${i === 0 ? 'API' : 'worker'}`
      rows.set(label, { ...reading, ...(i === 0 ? speed : UNKNOWN) })
    }
  }
  return {
    readings: rows,
    ratios: [
      ofLimit('memory_at_rest_to_limit', 'memory at rest', atRest?.resident, 110),
      ofLimit('memory_after_load_to_limit', `memory after ${seconds} s of load`, loaded?.resident, 200),
      ofLimit('memory_apart_to_limit', 'memory of two roles apart', apart, 300),
    ],
  }
}

/** A new process for each set, after one without flags. */
async function measureFlags(bench: Bench, sets: readonly FlagSet[] = FLAG_SETS): Promise<Readings> {
  const readings = new Map<string, Reading>()
  for (const set of sets.length === 0 ? [] : [NO_FLAGS, ...sets]) {
    bench.progress(set.name)
    await using exchange = await bench.start('together', set.name.replaceAll(/\W+/gu, '-'), set)
    const speed = await load(bench, exchange)
    readings.set(labelOf(set), { ...(await bench.read(exchange.api.pid)), ...speed })
  }
  return readings
}

const labelOf = ({ name, settings }: FlagSet) => (settings.length === 0 ? name : settings.join(' '))

function tableOfReadings(title: string, readings: Readings): Table {
  return tableOf<Reading>(
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
}

const UNKNOWN = { perSecond: Number.NaN, serviceMicroseconds: Number.NaN }

function ofLimit(id: string, label: string, megabytes = Number.NaN, limit = 1): Ratio {
  return { id, label: `${label}, of ${limit} MB`, value: megabytes / limit, wanted: { at: 'most', must: 1 } }
}

/** 64 clients for this time, in steps, because packages are made beforehand. Returns the medians of the steps after the first. */
async function load(
  { rig, seconds, progress }: Bench,
  exchange: DeliveringExchange,
): Promise<Pick<Reading, 'perSecond' | 'serviceMicroseconds'>> {
  const end = performance.now() + seconds * 1_000
  const steps: SendToArrival[] = []
  while (steps.length < LEAST_STEPS || performance.now() < end) {
    const measured = await sendToArrival(rig, exchange, {
      fanOut: 1,
      rampMs: 0,
      measureMs: STEP_LIMIT_MS,
      packages: STEP,
    })
    steps.push(measured)
    const left = Math.max(0, Math.round((end - performance.now()) / 1_000))
    progress(
      `${Math.round(measured.packagesPerSecond)} packages/s, ${Math.round(measured.megabytes)} MB, ${left} s left`,
    )
  }
  // V8 compiles most of the code in the first step.
  const warm = steps.slice(1)
  return {
    perSecond: median(warm.map(({ packagesPerSecond }) => packagesPerSecond)),
    serviceMicroseconds: median(warm.map(({ serviceMicroseconds }) => serviceMicroseconds)),
  }
}
