import {
  ratioOf,
  listOf,
  tableOf,
  type Area,
  type AreaContext,
  type AreaResult,
  type Ratio,
} from '../area.ts'
import { CLIENTS } from '../exchange/market.ts'
import type { TestBed } from '../exchange/test-bed.ts'
import { enoughFor } from '../load/needed-packages.ts'
import { residentMegabytes } from '../processes/tree.ts'
import { exactly, inTurns, type Rounds } from '../rounds.ts'
import { median } from '../statistics.ts'
import { startContenders, type Contender } from './contenders.ts'
import { slowestAtRate } from './slowest.ts'
import { MEASURED, runLoad, type Measured, type Runner } from './run-load.ts'

/** Package creation, alternating with a floor and a naive server. */
export const packagesArea: Area = {
  name: 'packages',
  what: 'packages accepted/s at 64 clients, compared with a floor without database and a naive server',
  run,
}

interface Turns {
  readonly rounds: Rounds
  readonly rampMs: number
  readonly measureMs: number
}

interface Plan {
  /** Many short turns. */
  readonly rates: Turns
  readonly latencies: Turns
  /** Warm-up packages, limited by time, until the code is compiled. The service has more code than the references. */
  readonly warmUp: Readonly<Record<'service' | 'reference', { packages: number; limitMs: number }>>
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

async function run({ quick, workers, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  const plan = quick ? QUICK : FULL
  progress('starting PostgreSQL, the service, floor and naive server, and making organizations')
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  const { market, contenders } = await startContenders(bed, cleanup, { workers, isQuick: quick })
  const runner = { load: market.load, postgres: bed.postgres }
  const rates = await measureRates(runner, contenders, plan, progress)
  const service = contenders.find(({ id }) => id === 'accepted') as Contender
  const perSecond = median((rates.get('accepted') ?? []).map((each) => each.perSecond)) / 2
  const latencies = await measureLatency(runner, service, plan, { perSecond, progress })
  if (!quick) progress('looking at the slowest requests at half load')
  const slowest = quick ? [] : await slowestAtRate(bed, market, perSecond)
  const processes = workers === 1 ? 'one API process' : `${workers} API processes`
  return {
    tables: [
      tableOf(
        `Package creation, ${CLIENTS} clients, 12 KB, ES256, fsync on, ${processes}; CPU of a package`,
        MEASURED,
        contenders.map(({ id, label }) => ({ id, label, list: rates.get(id) ?? [] })),
      ),
      tableOf('Latency', MEASURED, [
        { id: 'single', label: 'one request at a time', list: latencies.get('single') ?? [] },
        { id: 'half_load', label: 'half of the maximum', list: latencies.get('half_load') ?? [] },
      ]),
      ...slowest,
      listOf('This run', [
        [
          'memory_after_load_mb',
          'resident memory of the service after the load, MB',
          [residentMegabytes(service.pid)],
        ],
        ['fsync_ms', 'time to make one page durable, ms', [bed.folder.fsyncMs]],
      ]),
    ],
    ratios: ratiosOf(rates, latencies),
    notes: notesOf(bed),
  }
}

type Results = ReadonlyMap<string, readonly Measured[]>

function ratiosOf(rates: Results, latencies: Results): Ratio[] {
  const each = (results: Results, id: string, member: keyof Measured) =>
    (results.get(id) ?? []).map((measured) => measured[member])
  const rate = (id: string, label: string, [of, to]: [string, string], must?: number, goal?: number) =>
    rates.has(of) && rates.has(to)
      ? [
          ratioOf(
            id,
            label,
            [each(rates, of, 'perSecond'), each(rates, to, 'perSecond')],
            must === undefined ? undefined : { at: 'least', must, ...(goal !== undefined && { goal }) },
          ),
        ]
      : []
  const atHalfLoad = (member: 'p50Ms' | 'p99Ms', must: number) =>
    ratioOf(
      `${member.slice(0, 3)}_at_half_load_to_single`,
      `${member.slice(0, 3)} at half load to one request at a time`,
      [each(latencies, 'half_load', member), each(latencies, 'single', 'p50Ms')],
      { at: 'most', must },
    )
  return [
    ...rate('accepted_to_floor', 'accepted packages/s to the floor', ['accepted', 'floor'], 0.7, 0.8),
    ...rate('accepted_to_bare_floor', 'accepted packages/s to the bare floor', ['accepted', 'bare']),
    ...rate('accepted_to_naive', 'accepted packages/s to the naive server', ['accepted', 'naive'], 4, 6),
    ...rate('hot_to_spread', 'one receiving organization to 100', ['accepted_hot', 'accepted'], 0.9),
    ...rate('tls_to_plain', 'with TLS to without', ['accepted_tls', 'accepted'], 0.8),
    ...rate('unnamed_to_named', 'unnamed statements, as for PgBouncer, to named', [
      'accepted_unnamed',
      'accepted',
    ]),
    atHalfLoad('p50Ms', 2),
    atHalfLoad('p99Ms', 8),
  ]
}

/**
 * All packages are created before the first turn: V8 flushes compiled code of an idle process, which would then spend the
 * next turn compiling.
 */
async function measureRates(
  runner: Runner,
  contenders: readonly Contender[],
  { rates: { rounds, ...span }, warmUp }: Plan,
  progress: AreaContext['progress'],
): Promise<Results> {
  const warm = new Map<number, number>()
  for (const contender of contenders) {
    if (warm.has(contender.pid)) continue
    progress(`warming up ${contender.label}`)
    const { packages, limitMs } = warmUp[contender.isService ? 'service' : 'reference']
    const options = { clients: CLIENTS, rampMs: 0, measureMs: limitMs, packages }
    warm.set(contender.pid, (await runLoad(runner, contender, options)).perSecond)
  }
  const needed = ({ pid }: Contender) => enoughFor(warm.get(pid) ?? 0, span)
  for (const [stock, users] of Map.groupBy(contenders, ({ source }) => source.stock)) {
    const [first, ...others] = users.filter(({ source }) => !source.isRepeated)
    if (!first) continue
    progress(`making the packages of all turns: ${stock}`)
    const count = [first, ...others].reduce((sum, user) => sum + needed(user), 0) * (rounds.most + 1)
    await runner.load.call('fill', stock, count, { ...first.address, tokens: await first.tokens.fresh() })
  }
  return inTurns(contenders, {
    rounds,
    measure: (contender) =>
      runLoad(runner, contender, { clients: CLIENTS, ...span, packages: needed(contender) }),
    progress,
    show: ({ perSecond }) => `${Math.round(perSecond)} /s`,
  })
}

/** Latency of one request at a time, and of an open loop at this rate. */
async function measureLatency(
  runner: Runner,
  service: Contender,
  { latencies: { rounds, ...span } }: Plan,
  { perSecond, progress }: { perSecond: number; progress: AreaContext['progress'] },
): Promise<Results> {
  const target = { ...service.address, tokens: await service.tokens.fresh() }
  const packages = 2 * (rounds.most + 1) * enoughFor(perSecond, span)
  progress('making the packages for latency')
  await runner.load.call('fill', service.source.stock, packages, target)
  const kinds = [
    { id: 'single', label: 'one request at a time', options: { clients: 1 } },
    { id: 'half_load', label: 'half of the maximum', options: { clients: CLIENTS, perSecond } },
  ]
  return inTurns(kinds, {
    rounds,
    measure: ({ options }) => runLoad(runner, service, { ...options, ...span, packages: 0 }),
    progress,
    show: ({ p50Ms, p99Ms }) => `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
  })
}

function notesOf({ folder, postgres }: TestBed): string[] {
  return [
    `PostgreSQL ${postgres.version} with the settings of the embedded default, fsync on, over TCP on this machine as with ` +
      'DATABASE_URL. Packages are signed and their policy receipts accepted before the clock starts. The load comes from ' +
      'another process.',
    'The floor is the HTTP server of the service without a database: tokens, headers, limits, parsing, schemas, ' +
      'signature, digest and request log are real; nothing is signed or stored. The bare floor (not with --quick) is the ' +
      'framework with parsing, signature and digest only.',
    'The slowest hundredth (not with --quick): a request waits for whatever happens at the same time, so the causes may ' +
      'overlap. What none of them explains is work: batches that wait for a batch, statements, the other process.',
    'The naive server stores the same data in a separate database of the same PostgreSQL, with as many connections.',
    ...(folder.isOnDisk
      ? []
      : [
          'The database is in memory here (tmpfs), so fsync is free: set AEX_BENCH_DIR to a folder on a disk.',
        ]),
  ]
}
