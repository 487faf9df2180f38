import type { Area, AreaContext, AreaResult } from '../area.ts'
import { median } from '../statistics.ts'
import { deliveryResult, type DeliveryResults } from './delivery-findings.ts'
import { makeDeliveryScene, type DeliveryScene } from './delivery-scene.ts'
import { firstAttempts } from './hanging.ts'
import { oneByOneThroughput, workerThroughput } from './throughput.ts'

/** Webhook delivery by real workers, beside a loop with fetch. */
export const deliveryArea: Area = {
  name: 'delivery',
  what: 'webhooks/s of one and two workers, beside a loop with fetch; healthy endpoints beside hanging ones',
  run,
}

interface Plan {
  /** Until the code of both workers is compiled, or most of it. */
  readonly warmUpEvents: number
  readonly repetitions: number
  /** For each of ten organizations, 20 deliveries each. */
  readonly events: number
  readonly oneByOneEvents: number
  readonly streamMs: number
}

const FULL: Plan = { warmUpEvents: 60, repetitions: 5, events: 50, oneByOneEvents: 5, streamMs: 4_000 }
const QUICK: Plan = { warmUpEvents: 28, repetitions: 3, events: 20, oneByOneEvents: 1, streamMs: 600 }
/** The loop does little, over and over. */
const ONE_BY_ONE_WARM_UP_EVENTS = 2
const HANGING_REPETITIONS = 5
/** Of what one worker delivers at most. */
const STREAM_SHARE = 0.4

async function run({ quick, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  const plan = quick ? QUICK : FULL
  progress('starting PostgreSQL, an exchange without workers, a receiver and 200 endpoints')
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  const scene = await makeDeliveryScene(bed, cleanup)
  const worker = cleanup.use(await scene.exchange.serve('worker', scene.settings))
  const second = cleanup.use(await scene.exchange.serve('second-worker', scene.settings))
  const both = [worker.pid, second.pid]
  // Nothing ends while it is paused.
  cleanup.defer(() => void process.kill(second.pid, 'SIGCONT'))
  const results: DeliveryResults = { one: [], two: [], oneByOne: [], well: [], hanging: [] }
  const { postgres } = bed
  progress('warming up')
  await workerThroughput(scene, postgres, { pids: both, events: plan.warmUpEvents })
  await oneByOneThroughput(scene, postgres, ONE_BY_ONE_WARM_UP_EVENTS)
  for (let repetition = 1; repetition <= plan.repetitions; repetition++) {
    const { events, oneByOneEvents } = plan
    results.oneByOne.push(await oneByOneThroughput(scene, postgres, oneByOneEvents))
    // Paused rather than stopped: a process that has just started is slow, whatever it does.
    process.kill(second.pid, 'SIGSTOP')
    results.one.push(await workerThroughput(scene, postgres, { pids: [worker.pid], events }))
    process.kill(second.pid, 'SIGCONT')
    results.two.push(await workerThroughput(scene, postgres, { pids: both, events }))
    const rates = [results.oneByOne, results.one, results.two].map((each) =>
      Math.round(each.at(-1)?.perSecond ?? 0),
    )
    progress(`${repetition}/${plan.repetitions} one by one, one worker, two workers: ${rates.join(', ')} /s`)
  }
  process.kill(second.pid, 'SIGSTOP')
  await compareHanging(scene, results, plan, progress)
  return deliveryResult(results)
}

/** In turns: without and with endpoints that hang. */
async function compareHanging(
  scene: DeliveryScene,
  results: DeliveryResults,
  { streamMs: milliseconds }: Plan,
  progress: AreaContext['progress'],
): Promise<void> {
  const deliveriesPerSecond = STREAM_SHARE * median(results.one.map(({ perSecond }) => perSecond))
  const stream = { milliseconds, deliveriesPerSecond }
  await firstAttempts(scene, { ...stream, isHanging: false })
  for (let repetition = 1; repetition <= HANGING_REPETITIONS; repetition++) {
    const well = await firstAttempts(scene, { ...stream, isHanging: false })
    const hanging = await firstAttempts(scene, { ...stream, isHanging: true })
    results.well.push(well)
    results.hanging.push(hanging)
    const [one, other] = [well, hanging].map(({ p99Ms }) => p99Ms.toFixed(1))
    progress(
      `${repetition}/${HANGING_REPETITIONS} p99 to the first attempt of healthy endpoints: ` +
        `${one} ms, with a tenth hanging ${other} ms`,
    )
  }
}
