import { ratioOf, tableOf, type Area, type AreaContext, type AreaResult } from '../area.ts'
import { sendToArrival, SEND_TO_ARRIVAL, type SendToArrival } from '../end-to-end/send-to-arrival.ts'
import { endpointsOf, provision, type DeliveringExchange, type Rig } from '../exchange/delivering-exchange.ts'
import { untilSettled } from '../exchange/until-settled.ts'
import { startLoad } from '../load/load.ts'
import { enoughForPoisson } from '../load/needed-packages.ts'
import { startHelper } from '../processes/calls.ts'
import { pausable } from '../processes/pause.ts'
import { copyDeliveries, makeNaiveDatabase } from '../reference/naive-database.ts'
import { exactly, inTurns, type Rounds } from '../rounds.ts'
import { median } from '../statistics.ts'
import { deliverBacklog, THROUGHPUT, throughputMeter, type Throughput } from './backlog.ts'
import type { OneByOneCalls } from './one-by-one-main.ts'
import { startReceiver } from './receiver.ts'

/** Webhook delivery by real workers, compared with a sequential loop with fetch. */
export const deliveryArea: Area = {
  name: 'delivery',
  what: 'webhooks/s of workers, compared with a loop with fetch; healthy endpoints while others hang',
  run,
}

interface Plan {
  /** Until most of the code of the workers is compiled. */
  readonly warmUpPackages: number
  readonly rounds: Rounds
  readonly hangingRounds: Rounds
  /** 20 deliveries each. */
  readonly packages: number
  readonly oneByOneDeliveries: number
  readonly measureMs: number
}

const FULL: Plan = {
  warmUpPackages: 600,
  rounds: exactly(5),
  hangingRounds: exactly(5),
  packages: 500,
  oneByOneDeliveries: 1_000,
  measureMs: 4_000,
}
const QUICK: Plan = {
  warmUpPackages: 250,
  rounds: { most: 5, least: 3, limitMs: 8_000 },
  hangingRounds: { most: 5, least: 3, limitMs: 4_000 },
  packages: 150,
  oneByOneDeliveries: 150,
  measureMs: 600,
}
const SENDERS = 16
const FAN_OUT = 20
/** 200 endpoints at 200 addresses. */
const RECEIVERS = new Map([[FAN_OUT, 10]])
/** Share of the maximum rate of one worker. */
const STREAM_SHARE = 0.4
const RAMP_MS = 100
const SEED = 20_260_101
/** An increase up to this is not noticeable. */
const ALLOWED_MS = 25

async function run({ quick, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  const plan = quick ? QUICK : FULL
  progress('starting PostgreSQL, an exchange with a worker, a receiver and 200 endpoints')
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  const receiver = await startReceiver(bed, cleanup, endpointsOf(RECEIVERS))
  const rig: Rig = { load: cleanup.use(startLoad()), receiver, postgres: bed.postgres }
  const options = { name: 'delivery', senders: SENDERS, receivers: RECEIVERS, canHang: true }
  const start = await provision(bed, rig, cleanup, options)
  const exchange = cleanup.use(await start('apart', 'measured'))
  const naive = await makeNaiveDatabase(bed, exchange.exchange)
  const loop = cleanup.use(
    startHelper<OneByOneCalls>(new URL('one-by-one-main.ts', import.meta.url), {
      NODE_EXTRA_CA_CERTS: receiver.caFile,
    }),
  )
  await loop.call('open', naive)
  progress('warming up')
  await deliverBacklog(rig, exchange, {
    packages: plan.warmUpPackages,
    fanOut: FAN_OUT,
    onHeld: () => copyDeliveries(exchange.exchange, naive),
  })
  const oneByOne = async () => {
    const throughput = throughputMeter(rig, [loop.pid])
    const { deliveries, milliseconds } = await loop.call('deliver', plan.oneByOneDeliveries)
    return throughput(deliveries, milliseconds)
  }
  // In the first quarter of its deliveries, the loop opens connections to all endpoints.
  await oneByOne()
  const contenders = [
    { id: 'deliveries_one_by_one', label: 'one by one with fetch', measure: oneByOne },
    {
      id: 'deliveries',
      label: 'one worker process',
      measure: () =>
        deliverBacklog(rig, exchange, {
          packages: plan.packages,
          fanOut: FAN_OUT,
          onHeld: () => copyDeliveries(exchange.exchange, naive),
        }),
    },
    ...(quick ? [] : [await twoWorkers(rig, exchange, plan.packages, cleanup)]),
  ]
  const results = await inTurns(contenders, {
    rounds: plan.rounds,
    measure: ({ measure }) => measure(),
    progress,
    show: ({ perSecond }: Throughput) => `${Math.round(perSecond)} /s`,
    isWarm: true,
  })
  const rates = (id: string) => (results.get(id) ?? []).map(({ perSecond }) => perSecond)
  const perSecond = (STREAM_SHARE * median(rates('deliveries'))) / FAN_OUT
  const waits = await compareHanging(rig, exchange, { plan, perSecond, progress })
  const p99 = (id: string) => (waits.get(id) ?? []).map(({ p99Ms }) => p99Ms)
  const more = median(p99('hanging')) - median(p99('healthy'))
  return {
    tables: [
      tableOf(
        'Webhook delivery, 200 endpoints, TLS, signed, fsync on; CPU of a delivery',
        THROUGHPUT,
        contenders.map(({ id, label }) => ({ id, label, list: results.get(id) ?? [] })),
      ),
      tableOf(
        'From send to the first attempt at a healthy endpoint',
        SEND_TO_ARRIVAL,
        STREAMS.map(({ id, label }) => ({ id, label, list: waits.get(id) ?? [] })),
      ),
    ],
    ratios: [
      ratioOf(
        'deliveries_to_naive',
        'deliveries/s of one worker to one by one with fetch',
        [rates('deliveries'), rates('deliveries_one_by_one')],
        { at: 'least', must: 8, goal: 10 },
      ),
      ...(quick
        ? []
        : [
            ratioOf('deliveries_two_workers_to_one', 'deliveries/s of two workers to one', [
              rates('deliveries_two_workers'),
              rates('deliveries'),
            ]),
          ]),
      {
        ...ratioOf(
          'healthy_p99_with_hanging',
          'p99 to the first attempt, 10% hanging to none',
          [p99('hanging'), p99('healthy')],
          { at: 'most', must: 1.1 },
        ),
        ...(more <= ALLOWED_MS && { excuse: `within ${ALLOWED_MS} ms` }),
      },
    ],
    notes: [
      'Packages are accepted while the workers are paused; the clock runs from the end of the pause to the last arrival.',
      'One by one: claim a row, sign, fetch, record, with keep-alive connections, on a separate database of the same ' +
        'PostgreSQL. The receiver is one process that responds with 204 and verifies nothing.',
      `With a tenth hanging, p99 is ${more.toFixed(1)} ms more (${ALLOWED_MS} ms are allowed, whatever the ratio).`,
    ],
  }
}

/** The second worker is paused while the other one is measured alone. */
async function twoWorkers(
  rig: Rig,
  exchange: DeliveringExchange,
  packages: number,
  cleanup: AsyncDisposableStack,
) {
  const served = await exchange.startWorker('second-worker')
  const second = cleanup.use(pausable(served))
  second.pause()
  return {
    id: 'deliveries_two_workers',
    label: 'two worker processes',
    async measure() {
      second.resume()
      const workers = [exchange.worker, served]
      const measured = await deliverBacklog(rig, exchange, { packages, fanOut: FAN_OUT, workers })
      second.pause()
      return measured
    },
  }
}

const STREAMS = [
  { id: 'healthy', label: 'all endpoints well' },
  { id: 'hanging', label: 'a tenth hanging' },
]

/** Alternates between streams of packages without and with hanging endpoints. */
function compareHanging(
  rig: Rig,
  exchange: DeliveringExchange,
  { plan, perSecond, progress }: { plan: Plan; perSecond: number; progress: AreaContext['progress'] },
): Promise<Map<string, SendToArrival[]>> {
  const span = { rampMs: RAMP_MS, measureMs: plan.measureMs }
  return inTurns(STREAMS, {
    rounds: plan.hangingRounds,
    async measure({ id }, round) {
      await rig.receiver.process.call('hang', id === 'hanging')
      const measured = await sendToArrival(rig, exchange, {
        ...span,
        fanOut: FAN_OUT,
        arrivals: { perSecond, poissonSeed: SEED + round },
        packages: enoughForPoisson(perSecond, span),
        isHealthyOnly: true,
      })
      await rig.receiver.process.call('hang', false)
      await untilSettled(exchange.exchange.database)
      return measured
    },
    progress,
    show: ({ p99Ms }) => `p99 ${p99Ms.toFixed(1)} ms`,
  })
}
