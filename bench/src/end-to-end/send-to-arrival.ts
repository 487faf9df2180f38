import type { MemberColumn } from '../area.ts'
import { HANGING_SHARE } from '../delivery/hanging-path.ts'
import { untilDelivered } from '../delivery/receiver.ts'
import { pidsOf, type DeliveringExchange, type Rig } from '../exchange/delivering-exchange.ts'
import { CLIENTS } from '../exchange/market.ts'
import { cpuMeter } from '../processes/cpu.ts'
import { residentMegabytes } from '../processes/tree.ts'
import { percentiles } from '../statistics.ts'
import { arrivalLatencies } from './arrival-latency.ts'

const ACCEPTED = 202
const ARRIVAL_LIMIT_MS = 180_000

export interface Sending {
  /** Webhook endpoints per package. */
  readonly fanOut: number
  readonly rampMs: number
  readonly measureMs: number
  /** An open loop at this rate, of Poisson arrivals if there is a seed; otherwise 64 clients send as fast as possible. */
  readonly arrivals?: { readonly perSecond: number; readonly poissonSeed?: number }
  /** Only endpoints that never hang are waited for and measured. */
  readonly isHealthyOnly?: boolean
  /** Packages to prepare beforehand. */
  readonly packages: number
}

export interface SendToArrival {
  readonly packagesPerSecond: number
  /** From the due time to the response. */
  readonly answerP50Ms: number
  readonly answerP99Ms: number
  /** From the first send to the last arrival. */
  readonly deliveriesPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU time of a delivery, with its share of accepting the package. */
  readonly serviceMicroseconds: number
  readonly postgresMicroseconds: number
  /** Of all processes of the service, when the last package was accepted. */
  readonly megabytes: number
  /** From the last send to the last arrival; long if deliveries fall behind. */
  readonly drainSeconds: number
}

export const SEND_TO_ARRIVAL: readonly MemberColumn<SendToArrival>[] = [
  { member: 'packagesPerSecond', id: 'packages_per_second', head: 'packages/s' },
  { member: 'deliveriesPerSecond', id: 'deliveries_per_second', head: 'deliveries/s' },
  { member: 'p50Ms', id: 'p50_ms', head: 'p50 ms' },
  { member: 'p99Ms', id: 'p99_ms', head: 'p99 ms' },
  { member: 'serviceMicroseconds', id: 'service_cpu_us', head: 'service µs' },
  { member: 'postgresMicroseconds', id: 'postgres_cpu_us', head: 'database µs' },
  { member: 'megabytes', id: 'memory_mb', head: 'memory MB' },
  { member: 'drainSeconds', id: 'drain_seconds', head: 'drain s' },
]

/** From the time a package is due to be sent to the arrival of its webhooks in another process. */
export async function sendToArrival(
  { load, receiver, postgres }: Rig,
  exchange: Pick<DeliveringExchange, 'target' | 'stock' | 'api' | 'worker'>,
  { fanOut, rampMs, measureMs, arrivals: rate, packages, isHealthyOnly = false }: Sending,
): Promise<SendToArrival> {
  const target = await exchange.target()
  const stock = exchange.stock(fanOut)
  await load.call('fill', stock, packages, target)
  await receiver.process.call('forget')
  await load.call('connect', target, CLIENTS)
  const used = cpuMeter([pidsOf(exchange), [postgres.pid()]])
  const { sent, ...answers } = await load.call('run', {
    target,
    source: { kind: 'stock', stock },
    status: ACCEPTED,
    rampMs,
    measureMs,
    isTraced: true,
    ...rate,
  })
  const megabytes = pidsOf(exchange).reduce((sum, pid) => sum + residentMegabytes(pid), 0)
  const endpoints = isHealthyOnly ? Math.round(fanOut * (1 - HANGING_SHARE)) : fanOut
  const expected = sent.length * endpoints
  const arrivals = await untilDelivered(receiver, expected, ARRIVAL_LIMIT_MS, isHealthyOnly)
  const { latencies, deliveries, firstSend, lastSend, lastArrival } = arrivalLatencies(sent, arrivals, {
    fanOut: endpoints,
    rampMs,
  })
  const [service = 0, database = 0] = used().map((seconds) => (seconds * 1e6) / deliveries)
  const [p50Ms = Number.NaN, p99Ms = Number.NaN] = percentiles(latencies, [0.5, 0.99])
  return {
    packagesPerSecond: answers.perSecond,
    answerP50Ms: answers.p50Ms,
    answerP99Ms: answers.p99Ms,
    deliveriesPerSecond: (deliveries * 1_000) / (lastArrival - firstSend),
    p50Ms,
    p99Ms,
    serviceMicroseconds: service,
    postgresMicroseconds: database,
    megabytes,
    drainSeconds: (lastArrival - lastSend) / 1_000,
  }
}
