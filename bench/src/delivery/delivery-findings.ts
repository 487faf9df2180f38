import type { AreaResult, Figure, Table } from '../area.ts'
import { figureOf } from '../figures.ts'
import { median, ratioInTurns } from '../statistics.ts'
import type { FirstAttempts } from './hanging.ts'
import type { Throughput } from './throughput.ts'

export interface DeliveryResults {
  readonly one: Throughput[]
  readonly two: Throughput[]
  readonly oneByOne: Throughput[]
  readonly well: FirstAttempts[]
  readonly hanging: FirstAttempts[]
}

/** An increase up to this is not noticeable. */
const ALLOWED_MS = 25

export function deliveryResult(results: DeliveryResults): AreaResult {
  const { one, two, oneByOne, well, hanging } = results
  const [usual, disturbed] = [median(p99(well)), median(p99(hanging))]
  return {
    title: 'Webhook delivery, 200 endpoints, TLS, signed, fsync on',
    plot: 'Webhooks delivered a second, 200 endpoints',
    figures: figuresOf(results),
    ratios: [
      {
        id: 'deliveries_to_naive',
        label: 'deliveries/s of one worker to one by one with fetch',
        ...ratioInTurns(rates(one), rates(oneByOne)),
        wanted: { at: 'least', must: 8, goal: 10 },
      },
      ...(two.length > 0
        ? [
            {
              id: 'deliveries_two_workers_to_one',
              label: 'deliveries/s of two workers to one',
              ...ratioInTurns(rates(two), rates(one)),
            },
          ]
        : []),
      {
        id: 'healthy_p99_with_hanging',
        label: 'p99 to the first attempt, 10% hanging to none',
        value: disturbed / usual,
        wanted: { at: 'most', must: 1.1 },
        ...(disturbed - usual <= ALLOWED_MS && { excuse: `within ${ALLOWED_MS} ms` }),
      },
    ],
    tables: [detailsOf(results)],
    notes: [
      'The backlog consists of copies of the rows of a real package, inserted in one ' +
        'transaction with the wake-up notification; the clock stops when the last result is recorded.',
      'One by one: claim a row, sign, fetch, record, with keep-alive connections, on a separate database of the same ' +
        'PostgreSQL. The receiver is one process that responds with 204 and verifies nothing.',
      `With a tenth hanging, p99 is ${(disturbed - usual).toFixed(1)} ms more (${ALLOWED_MS} ms are allowed, whatever the ratio).`,
    ],
  }
}

const rates = (list: readonly Throughput[]) => list.map(({ perSecond }) => perSecond)
const p50 = (list: readonly FirstAttempts[]) => list.map(({ p50Ms }) => p50Ms)
const p99 = (list: readonly FirstAttempts[]) => list.map(({ p99Ms }) => p99Ms)

function figuresOf({ one, two, oneByOne, well, hanging }: DeliveryResults): Figure[] {
  const beside = { reference: { name: 'one by one', value: median(rates(oneByOne)) } }
  return [
    figureOf('deliveries_per_second', 'one worker process', 'per_second', rates(one), beside),
    ...(two.length > 0
      ? [
          figureOf(
            'deliveries_two_workers_per_second',
            'two worker processes',
            'per_second',
            rates(two),
            beside,
          ),
        ]
      : []),
    figureOf('deliveries_one_by_one_per_second', 'one by one with fetch', 'per_second', rates(oneByOne), {
      isOther: true,
    }),
    figureOf('healthy_p50_ms', 'p50 to the first attempt, all well', 'milliseconds', p50(well)),
    figureOf('healthy_p99_ms', 'p99 to the first attempt, all well', 'milliseconds', p99(well)),
    figureOf('healthy_p50_hanging_ms', 'p50 of healthy ones, a tenth hanging', 'milliseconds', p50(hanging)),
    figureOf('healthy_p99_hanging_ms', 'p99 of healthy ones, a tenth hanging', 'milliseconds', p99(hanging)),
  ]
}

const middle = (list: readonly Throughput[], member: keyof Throughput) =>
  median(list.map((each) => each[member])).toFixed(0)

const row = (label: string, list: readonly Throughput[]) => [
  label,
  middle(list, 'workerMicroseconds'),
  middle(list, 'postgresMicroseconds'),
  middle(list, 'receiverMicroseconds'),
]

function detailsOf({ one, two, oneByOne }: DeliveryResults): Table {
  return {
    title: 'CPU of a delivery, in µs',
    head: ['', 'sender', 'PostgreSQL', 'receiver'],
    rows: [
      row('one worker process', one),
      ...(two.length > 0 ? [row('two worker processes', two)] : []),
      row('one by one with fetch', oneByOne),
    ],
  }
}
