import type { MemberColumn } from '../area.ts'
import type { DeliveringExchange, Rig } from '../exchange/delivering-exchange.ts'
import { CLIENTS } from '../exchange/market.ts'
import { cpuMeter } from '../processes/cpu.ts'
import { pausable } from '../processes/pause.ts'
import type { Served } from '../processes/serve.ts'
import { sharedNow } from '../processes/shared-clock.ts'
import { untilDelivered } from './receiver.ts'

const ACCEPTED = 202
const SEND_LIMIT_MS = 60_000
const ARRIVAL_LIMIT_MS = 120_000
/** Packages that open connections to all endpoints before the measured backlog. */
const FIRST_PACKAGES = 10

export interface Backlog {
  readonly packages: number
  readonly fanOut: number
  /** The processes that deliver; by default the worker of the exchange. */
  readonly workers?: readonly Served[]
  /** Called while the deliveries wait. */
  readonly onHeld?: () => Promise<void>
}

/**
 * Pauses the workers while packages are accepted, and resumes them when their deliveries wait. This creates a backlog
 * through the API, which works with any revision of the service. Returns when the workers resumed, by the shared clock.
 */
export async function releaseBacklog(
  { load, receiver }: Rig,
  exchange: DeliveringExchange,
  { packages, fanOut, workers = [exchange.worker], onHeld }: Backlog,
): Promise<{ readonly deliveries: number; readonly from: number }> {
  if (exchange.layout !== 'apart') throw new Error('pausing needs a separate worker process')
  const target = await exchange.target()
  const stock = exchange.stock(fanOut)
  await load.call('fill', stock, packages, target)
  await receiver.process.call('forget')
  await load.call('connect', target, CLIENTS)
  const paused = workers.map(pausable)
  paused.forEach((worker) => worker.pause())
  try {
    const { requests } = await load.call('run', {
      target,
      source: { kind: 'stock', stock, most: packages },
      status: ACCEPTED,
      rampMs: 0,
      measureMs: SEND_LIMIT_MS,
    })
    if (requests < packages) throw new Error(`${requests} of ${packages} packages were sent in time`)
    await onHeld?.()
    return { deliveries: requests * fanOut, from: sharedNow() }
  } finally {
    paused.forEach((worker) => worker.resume())
  }
}

/** Deliveries a second, and CPU time of a delivery: of whoever delivers, of PostgreSQL, of the receiver. */
export interface Throughput {
  readonly perSecond: number
  readonly workerMicroseconds: number
  readonly postgresMicroseconds: number
  readonly receiverMicroseconds: number
}

export const THROUGHPUT: readonly MemberColumn<Throughput>[] = [
  { member: 'perSecond', id: 'per_second', head: 'per second' },
  { member: 'workerMicroseconds', id: 'worker_cpu_us', head: 'sender µs' },
  { member: 'postgresMicroseconds', id: 'postgres_cpu_us', head: 'PostgreSQL µs' },
  { member: 'receiverMicroseconds', id: 'receiver_cpu_us', head: 'receiver µs' },
]

/** Starts counting CPU time; the result turns a number of deliveries into a throughput. */
export function throughputMeter({ postgres, receiver }: Rig, senders: readonly number[]) {
  const used = cpuMeter([senders, [postgres.pid()], [receiver.process.pid]])
  return (deliveries: number, milliseconds: number): Throughput => {
    const [worker = 0, database = 0, receiving = 0] = used().map((seconds) => (seconds * 1e6) / deliveries)
    return {
      perSecond: (deliveries * 1_000) / milliseconds,
      workerMicroseconds: worker,
      postgresMicroseconds: database,
      receiverMicroseconds: receiving,
    }
  }
}

/** How fast workers process a backlog, until its last arrival. */
export async function deliverBacklog(
  rig: Rig,
  exchange: DeliveringExchange,
  backlog: Backlog,
): Promise<Throughput> {
  const workers = backlog.workers ?? [exchange.worker]
  const { fanOut } = backlog
  const first = await releaseBacklog(rig, exchange, { packages: FIRST_PACKAGES, fanOut, workers })
  await untilDelivered(rig.receiver, first.deliveries, ARRIVAL_LIMIT_MS)
  const { deliveries, from } = await releaseBacklog(rig, exchange, backlog)
  const throughput = throughputMeter(
    rig,
    workers.map(({ pid }) => pid),
  )
  const arrivals = await untilDelivered(rig.receiver, deliveries, ARRIVAL_LIMIT_MS)
  const last = arrivals.reduce((latest, { at }) => Math.max(latest, at), from)
  return throughput(deliveries, last - from)
}
