import { AggregatorRegistry } from 'prom-client'
import type { Metric } from './worker-messages.ts'

/** A worker that is well takes milliseconds, and Prometheus waits ten seconds for all of us. */
const ANSWER_LIMIT_MS = 2_000

/** One worker's part: what it answers, and that it is gone. */
export interface Member {
  answer(metrics: readonly Metric[]): void
  leave(): void
}

export interface PoolMetrics {
  /** From when it takes requests. `ask` makes it answer, sooner or later. */
  join(ask: () => void): Member
  /** Asks everybody; waits for nobody beyond the limit. */
  text(): Promise<string>
}

interface Joined {
  readonly number: number
  readonly ask: () => void
  /** An answer is on its way: who does not answer is not asked again. */
  isAsked: boolean
  /** What it has counted, as far as we know. */
  counted: readonly Metric[]
  readonly waiting: Set<(answer?: readonly Metric[]) => void>
}

/**
 * The metrics of all workers as those of one service.
 *
 * What is counted is added up. A sum that drops looks like a restart and makes rates of it wrong, so workers that are
 * gone, or silent, stay in it with what was last known of them. What is a state is not added up, since the sum of two
 * event loops' delays is nobody's: each worker shows its own under its number, which its successor takes over.
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

/** Undefined where it does not answer in time, or ends instead. */
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

/** prom-client leaves some states out of a sum (`omit`); with a number on it none is summed. */
function numbered(metric: Metric, worker: number): Metric {
  const values = metric.values.map((each) => ({ ...each, labels: { ...each.labels, worker } }))
  return { ...metric, aggregator: 'first', values }
}

/**
 * Only prom-client's sums: its way of asking workers fails as a whole where one of them is silent, and forgets those
 * that are gone.
 */
const added = (metrics: readonly (readonly Metric[])[]) => AggregatorRegistry.aggregate([...metrics])

function ownMetrics(expected: number, answered: number): Metric[] {
  return [
    gauge('aex_workers', 'Processes that share the ports (AEX_WORKERS)', expected),
    gauge(
      'aex_workers_unanswered',
      'Workers that did not say in time what they count: hung, or ended and not yet replaced',
      expected - answered,
    ),
  ]
}

function gauge(name: string, help: string, value: number): Metric {
  return { name, help, type: 'gauge', aggregator: 'first', values: [{ value, labels: {} }] }
}
