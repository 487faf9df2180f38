import { AggregatorRegistry } from 'prom-client'
import type { Metric } from './worker-messages.ts'

/** A healthy worker answers in milliseconds. Prometheus times out after ten seconds by default. */
const ANSWER_LIMIT_MS = 2_000

/** The connection of one worker. */
export interface Member {
  answer(metrics: readonly Metric[]): void
  leave(): void
}

export interface PoolMetrics {
  /** Called when a worker accepts requests. `ask` requests its metrics. */
  join(ask: () => void): Member
  /** Collects from all workers within the time limit. */
  text(): Promise<string>
}

interface Joined {
  readonly number: number
  readonly ask: () => void
  /** A request is pending; a hung worker is not asked again. */
  isAsked: boolean
  /** Its last known counters. */
  counted: readonly Metric[]
  readonly waiting: Set<(answer?: readonly Metric[]) => void>
}

/**
 * The metrics of all workers as one service.
 *
 * Counters and histograms are summed. A counter that decreases looks like a restart, so ended and hung workers keep
 * contributing their last known values. Gauges are not summed: each worker has its own, labelled with its number, which
 * its successor reuses.
 */
export function createPoolMetrics(expected: number): PoolMetrics {
  const members = new Set<Joined>()
  let left: readonly Metric[] = []
  return {
    join(ask) {
      const taken = new Set([...members].map(({ number }) => number))
      let number = 1
      while (taken.has(number)) number++
      const member: Joined = { number, ask, isAsked: false, counted: [], waiting: new Set() }
      members.add(member)
      return {
        answer(metrics) {
          member.isAsked = false
          member.counted = metrics.filter(isCounted)
          for (const settle of member.waiting) settle(metrics)
        },
        leave() {
          members.delete(member)
          left = added([left, member.counted]).getMetricsAsArray() as unknown as Metric[]
          for (const settle of member.waiting) settle()
        },
      }
    },
    async text() {
      const states = await Promise.all([...members].map(statesOf))
      const answered = states.filter((each) => each !== undefined)
      const counts = [...members].map(({ counted }) => counted)
      return added([left, ...counts, ...answered, ownMetrics(expected, answered.length)]).metrics()
    },
  }
}

/** Undefined if the worker does not answer in time or ends. */
async function statesOf(member: Joined): Promise<Metric[] | undefined> {
  const { promise, resolve } = Promise.withResolvers<readonly Metric[] | undefined>()
  member.waiting.add(resolve)
  const limit = setTimeout(() => resolve(undefined), ANSWER_LIMIT_MS)
  if (!member.isAsked) {
    member.isAsked = true
    member.ask()
  }
  const metrics = await promise
  clearTimeout(limit)
  member.waiting.delete(resolve)
  return metrics?.filter((metric) => !isCounted(metric)).map((metric) => numbered(metric, member.number))
}

const isCounted = ({ type }: Metric) => type === 'counter' || type === 'histogram'

/** prom-client drops some gauges from a sum (`omit`); with the label of a worker, none is summed. */
function numbered(metric: Metric, worker: number): Metric {
  const values = metric.values.map((each) => ({ ...each, labels: { ...each.labels, worker } }))
  return { ...metric, aggregator: 'first', values }
}

/**
 * Only the aggregation of prom-client is used: its collection fails for all workers if one hangs, and forgets ended
 * workers.
 */
const added = (metrics: readonly (readonly Metric[])[]) => AggregatorRegistry.aggregate([...metrics])

function ownMetrics(expected: number, answered: number): Metric[] {
  return [
    gauge('aex_workers', 'Processes that share the ports (AEX_WORKERS)', expected),
    gauge(
      'aex_workers_unanswered',
      'Workers that did not report in time: hung, or ended and not yet replaced',
      expected - answered,
    ),
  ]
}

function gauge(name: string, help: string, value: number): Metric {
  return { name, help, type: 'gauge', aggregator: 'first', values: [{ value, labels: {} }] }
}
