import type { Area, AreaContext, AreaResult } from '../area.ts'
import { pausable } from '../processes/pause.ts'
import { exactly, numbered, type Rounds } from '../rounds.ts'
import { median } from '../statistics.ts'
import { deliveryResult, type DeliveryResults } from './delivery-findings.ts'
import { makeDeliveryScene, type DeliveryScene } from './delivery-scene.ts'
import { firstAttempts } from './hanging.ts'
import { oneByOneThroughput, workerThroughput } from './throughput.ts'

/** Webhook delivery by real workers, compared with a sequential loop with fetch. */
export const deliveryArea: Area = {
  name: 'delivery',
  what: 'webhooks/s of workers, compared with a loop with fetch; healthy endpoints while others hang',
  run,
}

interface Plan {
  /** Warm-up until most of the code of the workers is compiled. */
  readonly warmUpEvents: number
  readonly rounds: Rounds
  readonly hangingRounds: Rounds
  /** For each of ten organizations, 20 deliveries each. */
  readonly events: number
  readonly oneByOneEvents: number
  readonly streamMs: number
}

const FULL: Plan = {
  warmUpEvents: 60,
  rounds: exactly(5),
  hangingRounds: exactly(5),
  events: 50,
  oneByOneEvents: 5,
  streamMs: 4_000,
}
const QUICK: Plan = {
  warmUpEvents: 28,
  rounds: { most: 5, least: 3, limitMs: 8_000 },
  hangingRounds: { most: 5, least: 3, limitMs: 4_000 },
  events: 20,
  oneByOneEvents: 1,
  streamMs: 600,
}
/** The loop needs less warm-up. */
const ONE_BY_ONE_WARM_UP_EVENTS = 1
/** Share of the maximum rate of one worker. */
const STREAM_SHARE = 0.4

async function run({ quick, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  const plan = quick ? QUICK : FULL
  progress('starting PostgreSQL, an exchange without workers, a receiver and 200 endpoints')
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  const scene = await makeDeliveryScene(bed, cleanup)
  const worker = cleanup.use(await scene.exchange.serve('worker', scene.settings))
  const second = quick
    ? undefined
    : cleanup.use(pausable(await scene.exchange.serve('second-worker', scene.settings)))
  const all = [worker, second].flatMap((each) => each?.pid ?? [])
  const results: DeliveryResults = { one: [], two: [], oneByOne: [], well: [], hanging: [] }
  const { postgres } = bed
  progress('warming up')
  await workerThroughput(scene, postgres, { pids: all, events: plan.warmUpEvents })
  await oneByOneThroughput(scene, postgres, ONE_BY_ONE_WARM_UP_EVENTS)
  for (const round of numbered(plan.rounds)) {
    const { events, oneByOneEvents } = plan
    results.oneByOne.push(await oneByOneThroughput(scene, postgres, oneByOneEvents))
    second?.pause()
    results.one.push(await workerThroughput(scene, postgres, { pids: [worker.pid], events }))
    if (second) {
      second.resume()
      results.two.push(await workerThroughput(scene, postgres, { pids: all, events }))
    }
    progress(`${round}/${plan.rounds.most} ${latestOf(results).join(', ')} /s`)
  }
  second?.pause()
  await compareHanging(scene, results, plan, progress)
  return deliveryResult(results)
}

function latestOf({ oneByOne, one, two }: DeliveryResults): string[] {
  const all = { 'one by one': oneByOne, 'one worker': one, 'two workers': two }
  return Object.entries(all).flatMap(([who, list]) =>
    list.slice(-1).map(({ perSecond }) => `${who} ${Math.round(perSecond)}`),
  )
}

/** Alternates between runs without and with hanging endpoints. */
async function compareHanging(
  scene: DeliveryScene,
  results: DeliveryResults,
  { streamMs: milliseconds, hangingRounds }: Plan,
  progress: AreaContext['progress'],
): Promise<void> {
  const deliveriesPerSecond = STREAM_SHARE * median(results.one.map(({ perSecond }) => perSecond))
  const stream = { milliseconds, deliveriesPerSecond }
  await firstAttempts(scene, { ...stream, isHanging: false })
  for (const round of numbered(hangingRounds)) {
    const well = await firstAttempts(scene, { ...stream, isHanging: false })
    const hanging = await firstAttempts(scene, { ...stream, isHanging: true })
    results.well.push(well)
    results.hanging.push(hanging)
    const [one, other] = [well, hanging].map(({ p99Ms }) => p99Ms.toFixed(1))
    progress(
      `${round}/${hangingRounds.most} p99 to the first attempt of healthy endpoints: ` +
        `${one} ms, with a tenth hanging ${other} ms`,
    )
  }
}
