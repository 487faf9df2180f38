import type { Wanted } from '../area.ts'
import { deliverBacklog, releaseBacklog } from '../delivery/backlog.ts'
import { untilDelivered } from '../delivery/receiver.ts'
import { sendToArrival, type Sending } from '../end-to-end/send-to-arrival.ts'
import type { DeliveringExchange, Layout, Rig } from '../exchange/delivering-exchange.ts'
import { CLIENTS } from '../exchange/market.ts'
import { enoughFor, enoughForPoisson } from '../load/needed-packages.ts'
import { runLoad, type Measured, type RunOptions } from '../packages/run-load.ts'

export interface Metric {
  /** Unique, in snake case: the name in the JSON file. */
  readonly id: string
  readonly label: string
  readonly better: 'higher' | 'lower'
  /** Of the ratio of this working tree to the first release. */
  readonly wanted?: Wanted
}

/** A measurement that alternates between two revisions. */
export interface Comparison {
  readonly name: string
  /** One line for `--help`. */
  readonly what: string
  readonly layout: Layout
  readonly metrics: readonly Metric[]
  /** Duration of one turn with its preparation on two cores, for the estimate. */
  readonly turnSeconds: number
  /** A value for each metric, in order. */
  readonly measure: (rig: Rig, exchange: DeliveringExchange, turn: number) => Promise<readonly number[]>
}

/** Receiving organizations by fan-out. */
export const RECEIVERS: ReadonlyMap<number, number> = new Map([
  [1, 8],
  [20, 5],
])

const cpu = (id: string, whose: string, wanted?: Wanted): Metric => ({
  id,
  label: `CPU of ${whose}, µs`,
  better: 'lower',
  ...(wanted && { wanted }),
})
/** With everything on. */
const SERVICE_CPU: Wanted = { at: 'most', must: 1.05 }

const PACKAGES_SPAN = { rampMs: 300, measureMs: 1_000 }
/** Measured packages per second, by exchange. */
const rates = new WeakMap<DeliveringExchange, number>()

const packages: Comparison = {
  name: 'packages',
  what: 'packages accepted/s at 64 clients',
  layout: 'apart',
  metrics: [
    { id: 'accepted_per_second', label: 'packages accepted/s', better: 'higher' },
    cpu('package_service_cpu_us', 'the API for a package', SERVICE_CPU),
    cpu('package_postgres_cpu_us', 'PostgreSQL for a package'),
  ],
  turnSeconds: 4,
  measure: async (rig, exchange) => {
    const needed = enoughFor(rates.get(exchange) ?? 0, PACKAGES_SPAN)
    const measured = await acceptPackages(rig, exchange, { ...PACKAGES_SPAN, packages: needed })
    return [measured.perSecond, measured.serverMicroseconds, measured.postgresMicroseconds]
  },
}

async function acceptPackages(
  { load, postgres }: Rig,
  exchange: DeliveringExchange,
  options: Omit<RunOptions, 'clients'>,
): Promise<Measured> {
  const contender = {
    address: { url: exchange.api.url },
    tokens: exchange.tokens,
    source: { kind: 'stock' as const, stock: exchange.stock(0) },
    pid: exchange.api.pid,
  }
  const measured = await runLoad({ load, postgres }, contender, { ...options, clients: CLIENTS })
  rates.set(exchange, Math.max(rates.get(exchange) ?? 0, measured.perSecond))
  return measured
}

const FAN_OUT = 20
const WARM_UP = { packages: 2_500, limitMs: 15_000, backlog: 100 }
const BACKLOG_PACKAGES = 150
const ARRIVAL_LIMIT_MS = 120_000

const delivery: Comparison = {
  name: 'delivery',
  what: 'webhooks delivered/s from a backlog at 100 endpoints',
  layout: 'apart',
  metrics: [
    { id: 'deliveries_per_second', label: 'webhooks delivered/s', better: 'higher' },
    cpu('delivery_worker_cpu_us', 'the worker for a webhook'),
    cpu('delivery_postgres_cpu_us', 'PostgreSQL for a webhook'),
  ],
  turnSeconds: 3,
  async measure(rig, exchange) {
    const backlog = { packages: BACKLOG_PACKAGES, fanOut: FAN_OUT }
    const measured = await deliverBacklog(rig, exchange, backlog)
    return [measured.perSecond, measured.workerMicroseconds, measured.postgresMicroseconds]
  },
}

const PER_SECOND = 250
const END_TO_END_SPAN = { rampMs: 500, measureMs: 3_000 }

const endToEnd: Comparison = {
  name: 'end-to-end',
  what: `send to webhook arrival at ${PER_SECOND} packages/s, fan-out 1`,
  layout: 'apart',
  metrics: latencies('end_to_end', ''),
  turnSeconds: 6,
  async measure(rig, exchange, turn) {
    const { p50Ms, p99Ms } = await sendToArrival(rig, exchange, poissonArrivals(turn))
    return [p50Ms, p99Ms]
  },
}

function latencies(id: string, label: string): Metric[] {
  return [
    { id: `${id}_p50_ms`, label: `${label}p50 at ${PER_SECOND}/s, ms`, better: 'lower' },
    { id: `${id}_p99_ms`, label: `${label}p99 at ${PER_SECOND}/s, ms`, better: 'lower' },
  ]
}

/** The same arrivals for both revisions of a round. */
const poissonArrivals = (turn: number): Sending => ({
  ...END_TO_END_SPAN,
  fanOut: 1,
  arrivals: { perSecond: PER_SECOND, poissonSeed: turn },
  packages: enoughForPoisson(PER_SECOND, END_TO_END_SPAN),
})

const FULL_LOAD_SPAN = { rampMs: 300, measureMs: 1_500 }
const TOGETHER = 'one process: '

/** Only a process that accepts and delivers claims deliveries directly. */
const together: Comparison = {
  name: 'together',
  what: 'the same in one process (AEX_ROLE=all), and at full load of 64 clients',
  layout: 'together',
  metrics: [
    { id: 'together_per_second', label: `${TOGETHER}deliveries/s at full load`, better: 'higher' },
    cpu('together_service_cpu_us', 'one process for a delivery', SERVICE_CPU),
    cpu('together_postgres_cpu_us', 'PostgreSQL for a delivery'),
    ...latencies('together', TOGETHER),
  ],
  turnSeconds: 11,
  async measure(rig, exchange, turn) {
    const needed = enoughFor(rates.get(exchange) ?? 0, FULL_LOAD_SPAN)
    const full = await sendToArrival(rig, exchange, { ...FULL_LOAD_SPAN, fanOut: 1, packages: needed })
    const { p50Ms, p99Ms } = await sendToArrival(rig, exchange, poissonArrivals(turn))
    return [full.deliveriesPerSecond, full.serviceMicroseconds, full.postgresMicroseconds, p50Ms, p99Ms]
  },
}

export const COMPARISONS: readonly Comparison[] = [packages, delivery, endToEnd, together]

/** Warm-up after which V8 has compiled most of the code of the API and the worker. */
export async function warmUp(rig: Rig, exchange: DeliveringExchange): Promise<void> {
  const { packages: count, limitMs, backlog } = WARM_UP
  await acceptPackages(rig, exchange, { rampMs: 0, measureMs: limitMs, packages: count })
  if (exchange.layout === 'together') {
    await sendToArrival(rig, exchange, { rampMs: 0, measureMs: limitMs, fanOut: 1, packages: count })
    return
  }
  const { deliveries } = await releaseBacklog(rig, exchange, { packages: backlog, fanOut: FAN_OUT })
  await untilDelivered(rig.receiver, deliveries, ARRIVAL_LIMIT_MS)
}
