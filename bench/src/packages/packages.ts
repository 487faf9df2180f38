import type { Area, AreaContext, AreaResult } from '../area.ts'
import { CLIENTS } from '../exchange/market.ts'
import { figureOf } from '../figures.ts'
import { enoughFor } from '../load/needed-packages.ts'
import { residentMegabytes } from '../processes/tree.ts'
import { exactly, numbered, type Rounds } from '../rounds.ts'
import { startContenders, type Contender, type ContenderName } from './contenders.ts'
import {
  costFigures,
  detailsOf,
  packageNotes,
  packageRatios,
  rateFigures,
  rateOf,
  timeFigures,
} from './package-findings.ts'
import { runLoad, type Latencies, type Measured, type Results, type Runner } from './run-load.ts'

/** Package creation, alternating with a floor and a naive server. */
export const packagesArea: Area = {
  name: 'packages',
  what: 'packages accepted/s at 64 clients, compared with a floor without database and a naive server',
  run,
}

interface Plan {
  /** Many short turns. */
  readonly rates: Turns
  readonly latencies: Turns
  /**
   * Warm-up packages, limited by time, until the code is compiled. The service has more code than the references, so it
   * needs more.
   */
  readonly warmUp: Readonly<Record<'service' | 'reference', WarmUp>>
}

interface Turns {
  readonly rounds: Rounds
  readonly rampMs: number
  readonly measureMs: number
}

interface WarmUp {
  readonly packages: number
  readonly limitMs: number
}

const FULL: Plan = {
  rates: { rounds: exactly(20), rampMs: 150, measureMs: 600 },
  latencies: { rounds: exactly(5), rampMs: 500, measureMs: 4_000 },
  warmUp: {
    service: { packages: 20_000, limitMs: 20_000 },
    reference: { packages: 6_000, limitMs: 6_000 },
  },
}
const QUICK: Plan = {
  rates: { rounds: { most: 8, least: 4, limitMs: 14_000 }, rampMs: 80, measureMs: 300 },
  latencies: { rounds: exactly(3), rampMs: 100, measureMs: 500 },
  warmUp: {
    service: { packages: 8_000, limitMs: 6_000 },
    reference: { packages: 2_000, limitMs: 2_000 },
  },
}

/** Contenders of a ratio are neighbours, so that a disturbance affects both. */
const TURNS: readonly ContenderName[] = [
  'bare',
  'floor',
  'hot',
  'spread',
  'unnamed',
  'tls',
  'naive',
  'socket',
]

async function run({ quick, workers, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  const plan = quick ? QUICK : FULL
  progress('starting PostgreSQL and the service')
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  progress('making organizations, starting floor, naive server and the service with TLS')
  const { market, contenders } = await startContenders(bed, cleanup, {
    workers,
    isQuick: quick,
  })
  const runner = { load: market.load, postgres: bed.postgres }
  const results = await interleave(runner, contenders, plan, progress)
  const service = contenders.find(({ name }) => name === 'spread') as Contender
  const latencies = await measureLatency(runner, service, plan, {
    maximum: rateOf(results.spread),
    progress,
  })
  return {
    title: `Package creation, ${CLIENTS} clients, 12 KB, ES256, fsync on, ${processes(workers)}`,
    plot: `Packages accepted a second, ${CLIENTS} clients`,
    figures: [
      ...rateFigures(contenders, results),
      ...timeFigures(results, latencies),
      ...costFigures(results),
      figureOf('memory_after_load_mb', 'resident memory of the service after the load', 'megabytes', [
        residentMegabytes(service.pid),
      ]),
      figureOf('fsync_ms', 'time to make one page durable', 'milliseconds', [bed.folder.fsyncMs]),
    ],
    ratios: packageRatios(results, latencies),
    tables: [detailsOf(contenders, results)],
    notes: packageNotes(bed),
  }
}

/**
 * Contenders take short turns, so that a disturbance affects all of them. All packages are created before the first turn:
 * V8 flushes compiled code of an idle process, which would then spend the next turn compiling.
 */
async function interleave(
  runner: Runner,
  contenders: readonly Contender[],
  { rates: { rounds, ...turn }, warmUp }: Plan,
  progress: AreaContext['progress'],
): Promise<Results> {
  const warm = await warmUpAll(runner, contenders, warmUp, progress)
  progress('making the packages of all turns')
  const needed = (contender: Contender) => enoughFor(warm.get(contender.pid) ?? 0, turn)
  for (const [stock, users] of Map.groupBy(contenders, ({ source }) => source.stock)) {
    const own = users.filter(({ source }) => !source.isRepeated)
    const count = own.reduce((sum, user) => sum + needed(user), 0) * (rounds.most + 1)
    if (count > 0) await runner.load.call('fill', stock, count)
  }
  const results: Record<ContenderName, Measured[]> = {
    spread: [],
    floor: [],
    bare: [],
    hot: [],
    naive: [],
    tls: [],
    socket: [],
    unnamed: [],
  }
  const inTurn = TURNS.flatMap((name) => contenders.find((contender) => contender.name === name) ?? [])
  // The order alternates, so that no contender always inherits the background work of the same predecessor.
  const everyone = async (round: number) => {
    for (const contender of round % 2 === 0 ? inTurn : inTurn.toReversed()) {
      const { name, label } = contender
      const packages = needed(contender)
      const measured = await runLoad(runner, contender, { clients: CLIENTS, ...turn, packages })
      if (round > 0) results[name].push(measured)
      progress(`${round}/${rounds.most} ${label}: ${Math.round(measured.perSecond)} /s`)
    }
  }
  // The first round is discarded, because the processes were idle before.
  await everyone(0)
  for (const round of numbered(rounds)) await everyone(round)
  return results
}

/** Packages per second during the warm-up, by process. */
async function warmUpAll(
  runner: Runner,
  contenders: readonly Contender[],
  warmUp: Plan['warmUp'],
  progress: AreaContext['progress'],
): Promise<ReadonlyMap<number, number>> {
  const rates = new Map<number, number>()
  for (const contender of contenders) {
    const { label, pid, isService } = contender
    if (rates.has(pid)) continue
    progress(`warming up ${label}`)
    const { packages, limitMs } = warmUp[isService ? 'service' : 'reference']
    const options = { clients: CLIENTS, rampMs: 0, measureMs: limitMs, packages }
    rates.set(pid, (await runLoad(runner, contender, options)).perSecond)
  }
  return rates
}

/** Latency of one request at a time, and at half of the maximum rate. */
async function measureLatency(
  runner: Runner,
  service: Contender,
  { latencies: { rounds, rampMs, measureMs } }: Plan,
  { maximum, progress }: { maximum: number; progress: AreaContext['progress'] },
): Promise<Latencies> {
  const single: Measured[] = []
  const half: Measured[] = []
  const perSecond = maximum / 2
  const options = { rampMs, measureMs, packages: 0 }
  // Create the packages first, so that the service is not idle between runs.
  const needed = enoughFor(perSecond, { rampMs, measureMs })
  progress('making the packages for latency')
  await runner.load.call('fill', service.source.stock, 2 * rounds.most * needed)
  for (const round of numbered(rounds)) {
    single.push(await runLoad(runner, service, { ...options, clients: 1 }))
    half.push(await runLoad(runner, service, { ...options, clients: CLIENTS, perSecond }))
    progress(`${round}/${rounds.most} latency of one request, and at half of the maximum`)
  }
  return { single, half }
}

const processes = (workers: number) => (workers === 1 ? 'one API process' : `${workers} API processes`)
