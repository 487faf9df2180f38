import {
  listOf,
  ratioOf,
  tableOf,
  type Area,
  type AreaContext,
  type AreaResult,
  type Ratio,
} from '../area.ts'
import { startReceiver } from '../delivery/receiver.ts'
import {
  endpointsOf,
  provision,
  type DeliveringExchange,
  type Layout,
  type Rig,
} from '../exchange/delivering-exchange.ts'
import { CLIENTS } from '../exchange/market.ts'
import { startLoad } from '../load/load.ts'
import { enoughFor, enoughForPoisson } from '../load/needed-packages.ts'
import { exactly, inTurns, type Rounds } from '../rounds.ts'
import { combinationsOf, LAYOUTS, RECEIVERS, type Combination, type Loads } from './combinations.ts'
import { prepareFloors, type Floor, type Floors } from './floors.ts'
import { SEND_TO_ARRIVAL, sendToArrival, type SendToArrival } from './send-to-arrival.ts'
import { measureTakeover, type Takeover } from './takeover.ts'

/** From the send of a package to the arrival of its webhooks. */
export const endToEndArea: Area = {
  name: 'end-to-end',
  what: "from a client's send to the webhook's arrival, fan-out 1 and 20, one process or two, beside its floors",
  isLong: true,
  run,
}

interface Plan {
  readonly loads: Loads
  readonly rounds: Rounds
  readonly rampMs: number
  /** Duration of the measurement by load. */
  readonly measureMs: Readonly<Record<Combination['load'], number>>
  /** Warm-up packages by fan-out, until V8 has compiled most of the code. */
  readonly warmUp: ReadonlyMap<number, number>
  /** Packages of the backlog in which the worker is killed; 0 skips this part. */
  readonly takeoverPackages: number
}

const FULL: Plan = {
  loads: new Map([
    [1, ['full', 250, 50, 'alone']],
    [20, ['full', 250, 50]],
  ]),
  rounds: { ...exactly(3), least: 2, limitMs: 8 * 60_000 },
  rampMs: 1_000,
  measureMs: { full: 4_000, 250: 5_000, 50: 10_000, alone: 10_000 },
  warmUp: new Map([
    [1, 6_000],
    [20, 500],
  ]),
  takeoverPackages: 200,
}
const QUICK: Plan = {
  loads: new Map([
    [1, ['full', 250, 50, 'alone']],
    [20, ['full']],
  ]),
  rounds: { most: 2, least: 1, limitMs: 40_000 },
  rampMs: 500,
  measureMs: { full: 1_500, 250: 3_000, 50: 4_000, alone: 3_000 },
  warmUp: new Map([
    [1, 2_000],
    [20, 150],
  ]),
  takeoverPackages: 0,
}
/** Slow enough that each package has arrived before the next one is sent. */
const ALONE_PER_SECOND = 8
const FAN_OUT_OF_TAKEOVER = 20
const WARM_UP_LIMIT_MS = 30_000
const SEED = 20_260_101

type Exchanges = Readonly<Record<Layout, DeliveringExchange>>

async function run({ quick, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  const plan = quick ? QUICK : FULL
  progress('starting PostgreSQL, a receiver and two exchanges')
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  const rig: Rig = {
    load: cleanup.use(startLoad()),
    receiver: await startReceiver(bed, cleanup, endpointsOf(RECEIVERS)),
    postgres: bed.postgres,
  }
  const start = async (layout: Layout) => {
    const options = { name: `end_to_end_${layout}`, senders: CLIENTS, receivers: RECEIVERS }
    const startProcesses = await provision(bed, rig, cleanup, options)
    return cleanup.use(await startProcesses(layout, 'measured'))
  }
  const exchanges: Exchanges = { together: await start('together'), apart: await start('apart') }
  const floors = await prepareFloors(rig, exchanges.together, cleanup)
  const combinations = combinationsOf(plan.loads)
  const { arrivals, answers, commits } = await measureAll(rig, {
    exchanges,
    floors,
    combinations,
    plan,
    progress,
  })
  if (plan.takeoverPackages > 0) progress('killing the worker in the middle of a backlog: about a minute')
  const backlog = { packages: plan.takeoverPackages, fanOut: FAN_OUT_OF_TAKEOVER }
  const takeover = plan.takeoverPackages > 0 ? [await measureTakeover(rig, exchanges.apart, backlog)] : []
  return {
    tables: [
      tableOf(
        'From send to arrival: CPU and latency of a delivery',
        SEND_TO_ARRIVAL,
        combinations.map(({ id, label }) => ({ id, label, list: arrivals.get(id) ?? [] })),
      ),
      listOf('Floors and takeover', [
        ['floor_ms', 'floor: an answer of the same server without a database, ms', times(answers)],
        ['commit_floor_ms', 'commit floor: an empty transaction with its flush, ms', times(commits)],
        ...takeover.flatMap(takeoverFigures),
      ]),
    ],
    ratios: ratiosOf(arrivals, times(answers), times(commits)),
    notes: notesOf(plan, takeover),
  }
}

const times = (list: readonly Floor[]) => list.map(({ p50Ms }) => p50Ms)

interface Parts {
  readonly exchanges: Exchanges
  readonly floors: Floors
  readonly combinations: readonly Combination[]
  readonly plan: Plan
  readonly progress: AreaContext['progress']
}

/** The floors are measured once in each round, between the combinations. */
async function measureAll(rig: Rig, { exchanges, floors, combinations, plan, progress }: Parts) {
  const rates = await warmUp(rig, exchanges, plan, progress)
  const answers: Floor[] = []
  const commits: Floor[] = []
  const arrivals = await inTurns(combinations, {
    rounds: plan.rounds,
    isWarm: true,
    async measure({ layout, fanOut, load }, round): Promise<SendToArrival> {
      if (answers.length < round) {
        answers.push(await floors.answer())
        commits.push(await floors.commit())
      }
      const span = { rampMs: plan.rampMs, measureMs: plan.measureMs[load], fanOut }
      const name = `${layout} ${fanOut}`
      if (load === 'full') {
        const rate = rates.get(name) ?? 0
        const packages = enoughFor(rate, span)
        const measured = await sendToArrival(rig, exchanges[layout], { ...span, packages })
        rates.set(name, Math.max(rate, measured.packagesPerSecond))
        return measured
      }
      const rate =
        load === 'alone' ? { perSecond: ALONE_PER_SECOND } : { perSecond: load, poissonSeed: SEED + round }
      const packages = enoughForPoisson(rate.perSecond, span)
      return sendToArrival(rig, exchanges[layout], { ...span, arrivals: rate, packages })
    },
    progress,
    show: ({ deliveriesPerSecond, p50Ms, p99Ms }) =>
      `${Math.round(deliveriesPerSecond)} deliveries/s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
  })
  return { arrivals, answers, commits }
}

/** Returns packages accepted a second, by layout and fan-out. */
async function warmUp(
  rig: Rig,
  exchanges: Exchanges,
  plan: Plan,
  progress: AreaContext['progress'],
): Promise<Map<string, number>> {
  const rates = new Map<string, number>()
  for (const [fanOut, packages] of plan.warmUp) {
    for (const layout of LAYOUTS) {
      progress(`warming up: ${layout}, fan-out ${fanOut}`)
      const span = { rampMs: 0, measureMs: WARM_UP_LIMIT_MS }
      const { packagesPerSecond } = await sendToArrival(rig, exchanges[layout], { ...span, fanOut, packages })
      rates.set(`${layout} ${fanOut}`, packagesPerSecond)
    }
  }
  return rates
}

/** Of one process and one endpoint, relative to what no implementation can avoid. */
function ratiosOf(
  arrivals: ReadonlyMap<string, readonly SendToArrival[]>,
  answers: readonly number[],
  commits: readonly number[],
): Ratio[] {
  const floors = answers.map((answer, round) => 2 * answer + 2 * (commits[round] ?? Number.NaN))
  const each = (load: string, value: (measured: SendToArrival) => number) =>
    (arrivals.get(`end_to_end_together_fan_out_1_${load}`) ?? []).map(value)
  const cpu = (load: string) =>
    each(load, (measured) => measured.serviceMicroseconds + measured.postgresMicroseconds)
  const toFloors = (id: string, label: string, latencies: readonly number[], must: number) =>
    ratioOf(id, `${label} to 2 floors and 2 commit floors`, [latencies, floors], { at: 'most', must })
  return [
    toFloors(
      'alone_to_floors',
      'a package alone, p50',
      each('alone', ({ p50Ms }) => p50Ms),
      1,
    ),
    toFloors(
      'p50_at_250_to_floors',
      'p50 at 250/s',
      each('at_250', ({ p50Ms }) => p50Ms),
      2.5,
    ),
    toFloors(
      'p99_at_250_to_floors',
      'p99 at 250/s',
      each('at_250', ({ p99Ms }) => p99Ms),
      6,
    ),
    ratioOf('cpu_at_50_to_full', 'CPU of a package at 50/s to full load', [cpu('at_50'), cpu('full')], {
      at: 'most',
      must: 2,
    }),
  ]
}

function takeoverFigures({ lastSeconds, medianSeconds }: Takeover) {
  return [
    ['takeover_last_seconds', 'kill -9 of the worker to the last delivery, s', [lastSeconds]],
    ['takeover_median_seconds', 'to the median of the remaining deliveries, s', [medianSeconds]],
  ] as const
}

function notesOf({ rampMs, measureMs }: Plan, takeover: readonly Takeover[]): string[] {
  return [
    'together: API and worker in one process (AEX_ROLE=all). apart: one process of AEX_ROLE=api, one of ' +
      'AEX_ROLE=worker. Fan-out: webhook endpoints of the receiving organization.',
    'p50 and p99 count from the time at which a package was due to be sent to the arrival of each of its webhooks at a ' +
      'TLS receiver in another process. Packages at 250/s and 50/s are an open loop with Poisson arrivals; alone are ' +
      `${ALONE_PER_SECOND} packages a second with equal gaps.`,
    `At full load 64 clients send for ${(rampMs + measureMs.full) / 1_000} s as fast as they get responses. If deliveries ` +
      'fall behind, the latency is that of a queue, which grows with that time; drain is the time from the last send to ' +
      'the last arrival.',
    'CPU is that of a delivery, with its share of accepting the package. Memory is resident, of all processes of the ' +
      'service, when the last package was accepted; it includes what earlier lines left behind.',
    ...takeover.map(
      ({ remaining, deliveries, restartSeconds }) =>
        `The worker was killed with ${remaining} of ${deliveries} deliveries left; another one was started at once, as by ` +
        `a service manager, and was ready after ${restartSeconds.toFixed(1)} s. Claims of the killed worker are released ` +
        'when its lock ends; attempts that it had started wait for their backoff.',
    ),
  ]
}
