import type { Area, AreaContext, AreaResult } from '../area.ts'
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
import { exactly, numbered, type Rounds } from '../rounds.ts'
import {
  combinationsOf,
  idOf,
  labelOf,
  LAYOUTS,
  RECEIVERS,
  type Combination,
  type Loads,
} from './combinations.ts'
import { endToEndResult } from './end-to-end-findings.ts'
import { sendToArrival, type SendToArrival } from './send-to-arrival.ts'
import { measureTakeover } from './takeover.ts'

/** From the send of a package to the arrival of its webhooks. */
export const endToEndArea: Area = {
  name: 'end-to-end',
  what: "from a client's send to the webhook's arrival, fan-out 1 and 20, one process or two",
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
    [1, ['full', 250, 50]],
    [20, ['full', 250, 50]],
  ]),
  rounds: { ...exactly(3), least: 2, limitMs: 7 * 60_000 },
  rampMs: 1_000,
  measureMs: { full: 4_000, 250: 5_000, 50: 10_000 },
  warmUp: new Map([
    [1, 6_000],
    [20, 500],
  ]),
  takeoverPackages: 200,
}
const QUICK: Plan = {
  loads: new Map([
    [1, ['full', 250]],
    [20, ['full', 50]],
  ]),
  rounds: { most: 2, least: 1, limitMs: 30_000 },
  rampMs: 500,
  measureMs: { full: 1_500, 250: 3_000, 50: 4_000 },
  warmUp: new Map([
    [1, 2_000],
    [20, 150],
  ]),
  takeoverPackages: 0,
}
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
    const name = `end_to_end_${layout}`
    const startProcesses = await provision(bed, rig, cleanup, {
      name,
      senders: CLIENTS,
      receivers: RECEIVERS,
    })
    return cleanup.use(await startProcesses(layout, 'measured'))
  }
  const exchanges: Exchanges = { together: await start('together'), apart: await start('apart') }
  const results = await measureAll(rig, exchanges, plan, progress)
  if (plan.takeoverPackages > 0) progress('killing the worker in the middle of a backlog: about a minute')
  const takeover =
    plan.takeoverPackages > 0
      ? await measureTakeover(rig, exchanges.apart, {
          packages: plan.takeoverPackages,
          fanOut: FAN_OUT_OF_TAKEOVER,
        })
      : undefined
  return endToEndResult(combinationsOf(plan.loads), results, {
    takeover,
    fullLoadSeconds: (plan.rampMs + plan.measureMs.full) / 1_000,
  })
}

/** By the id of the combination. */
export type EndToEndResults = ReadonlyMap<string, readonly SendToArrival[]>

/** All combinations in each round, in alternating order, so that a disturbance affects all of them. */
async function measureAll(
  rig: Rig,
  exchanges: Exchanges,
  plan: Plan,
  progress: AreaContext['progress'],
): Promise<EndToEndResults> {
  const rates = await warmUp(rig, exchanges, plan, progress)
  const combinations = combinationsOf(plan.loads)
  const results = new Map<string, SendToArrival[]>(combinations.map((each) => [idOf(each), []]))
  for (const round of numbered(plan.rounds)) {
    for (const combination of round % 2 === 1 ? combinations : combinations.toReversed()) {
      const { layout, fanOut, load } = combination
      const span = { rampMs: plan.rampMs, measureMs: plan.measureMs[load] }
      const rate = rates.get(rateId(combination)) ?? 0
      const measured = await sendToArrival(rig, exchanges[layout], {
        ...span,
        fanOut,
        ...(load === 'full'
          ? { packages: enoughFor(rate, span) }
          : {
              packages: enoughForPoisson(load, span),
              poisson: { perSecond: load, seed: SEED + round },
            }),
      })
      if (load === 'full') rates.set(rateId(combination), Math.max(rate, measured.packagesPerSecond))
      results.get(idOf(combination))?.push(measured)
      progress(
        `${round}/${plan.rounds.most} ${labelOf(combination)}: ${Math.round(measured.deliveriesPerSecond)} ` +
          `deliveries/s, p50 ${measured.p50Ms.toFixed(1)} ms, p99 ${measured.p99Ms.toFixed(1)} ms`,
      )
    }
  }
  return results
}

const rateId = ({ layout, fanOut }: Pick<Combination, 'layout' | 'fanOut'>) => `${layout} ${fanOut}`

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
      rates.set(rateId({ layout, fanOut }), packagesPerSecond)
    }
  }
  return rates
}
