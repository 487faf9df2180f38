import type { AreaResult, Figure, Table, Unit } from '../area.ts'
import { figureOf } from '../figures.ts'
import { formatNumber } from '../report/units.ts'
import { median } from '../statistics.ts'
import { idOf, labelOf, type Combination } from './combinations.ts'
import type { SendToArrival } from './send-to-arrival.ts'
import type { Takeover } from './takeover.ts'

/** The columns of the table, each a figure of the JSON file. */
const COLUMNS: readonly {
  readonly member: keyof SendToArrival
  readonly id: string
  readonly head: string
  readonly unit: Unit
}[] = [
  { member: 'packagesPerSecond', id: 'packages_per_second', head: 'packages/s', unit: 'per_second' },
  { member: 'deliveriesPerSecond', id: 'deliveries_per_second', head: 'deliveries/s', unit: 'per_second' },
  { member: 'p50Ms', id: 'p50_ms', head: 'p50 ms', unit: 'milliseconds' },
  { member: 'p99Ms', id: 'p99_ms', head: 'p99 ms', unit: 'milliseconds' },
  { member: 'serviceMicroseconds', id: 'service_cpu_us', head: 'service µs', unit: 'microseconds' },
  { member: 'postgresMicroseconds', id: 'postgres_cpu_us', head: 'database µs', unit: 'microseconds' },
  { member: 'megabytes', id: 'memory_mb', head: 'memory MB', unit: 'megabytes' },
  { member: 'drainSeconds', id: 'drain_seconds', head: 'drain s', unit: 'seconds' },
]

export interface OtherFindings {
  readonly takeover: Takeover | undefined
  /** How long clients send at full load. */
  readonly fullLoadSeconds: number
}

export function endToEndResult(
  combinations: readonly Combination[],
  results: ReadonlyMap<string, readonly SendToArrival[]>,
  { takeover, fullLoadSeconds }: OtherFindings,
): AreaResult {
  const measured = combinations.map((combination) => ({
    combination,
    list: results.get(idOf(combination)) ?? [],
  }))
  return {
    title: 'End to end',
    plot: 'End to end: webhooks delivered a second',
    figures: [
      ...measured.flatMap(({ combination, list }) => figuresOf(combination, list)),
      ...(takeover ? takeoverFigures(takeover) : []),
    ],
    tables: [tableOf(measured)],
    notes: [
      'together: API and worker in one process (AEX_ROLE=all). apart: one process of AEX_ROLE=api, one of ' +
        'AEX_ROLE=worker. Fan-out: webhook endpoints of the receiving organization.',
      'p50 and p99 count from the time at which a package was due to be sent to the arrival of each of its webhooks at a ' +
        'TLS receiver in another process. Packages at 250/s and 50/s are an open loop with Poisson arrivals.',
      `At full load 64 clients send for ${fullLoadSeconds} s as fast as they get responses. If deliveries fall behind, ` +
        'the latency is that of a queue, which grows with that time; drain is the time from the last send to the last ' +
        'arrival.',
      'CPU is that of a delivery, with its share of accepting the package. Memory is resident, of all processes of the ' +
        'service, when the last package was accepted; it includes what earlier lines left behind.',
      ...(takeover
        ? [
            `The worker was killed with ${takeover.remaining} of ${takeover.deliveries} deliveries left; another one was started at ` +
              `once, as by a service manager, and was ready after ${takeover.restartSeconds.toFixed(1)} s. Claims of the killed ` +
              'worker are released when its lock ends; attempts that it had started wait for their backoff.',
          ]
        : []),
    ],
  }
}

interface MeasuredCombination {
  readonly combination: Combination
  readonly list: readonly SendToArrival[]
}

function figuresOf(combination: Combination, list: readonly SendToArrival[]): Figure[] {
  return COLUMNS.map(({ member, id, head, unit }) =>
    figureOf(
      `${idOf(combination)}_${id}`,
      // The plot shows only the rate of deliveries, by combination.
      member === 'deliveriesPerSecond' ? labelOf(combination) : `${labelOf(combination)}: ${head}`,
      unit,
      list.map((each) => each[member]),
      { isInTable: true, ...(member === 'packagesPerSecond' && { isUnplotted: true }) },
    ),
  )
}

function takeoverFigures({ lastSeconds, medianSeconds }: Takeover): Figure[] {
  return [
    figureOf('takeover_last_seconds', 'kill -9 of the worker to the last delivery', 'seconds', [lastSeconds]),
    figureOf('takeover_median_seconds', 'to the median of the remaining deliveries', 'seconds', [
      medianSeconds,
    ]),
  ]
}

function tableOf(measured: readonly MeasuredCombination[]): Table {
  return {
    title: 'From send to arrival: medians of the rounds; CPU and latency of a delivery',
    head: ['processes', 'fan-out', 'load', ...COLUMNS.map(({ head }) => head)],
    rows: measured.map(({ combination: { layout, fanOut, load }, list }) => [
      layout,
      String(fanOut),
      load === 'full' ? 'full' : `${load}/s`,
      ...COLUMNS.map(({ member }) => formatNumber(median(list.map((each) => each[member])))),
    ]),
  }
}
