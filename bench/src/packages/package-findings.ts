import type { Figure, Ratio, Table } from '../area.ts'
import type { TestBed } from '../exchange/test-bed.ts'
import { figureOf } from '../figures.ts'
import { median, ratioInTurns } from '../statistics.ts'
import type { Contender, ContenderName } from './contenders.ts'
import type { Latencies, Measured, Results } from './run-load.ts'

/** Ratios that are comparable between machines, each within one run. */
export function packageRatios(results: Results, { single, half }: Latencies): Ratio[] {
  const ratio = (of: ContenderName, to: ContenderName) =>
    ratioInTurns(each(results[of], 'perSecond'), each(results[to], 'perSecond'))
  const [p99, one] = [median(half.map(({ p99Ms }) => p99Ms)), median(single.map(({ p50Ms }) => p50Ms))]
  return [
    {
      id: 'accepted_to_floor',
      label: 'accepted packages/s to the floor',
      ...ratio('spread', 'floor'),
      wanted: { at: 'least', must: 0.65, goal: 0.8 },
    },
    ...(results.bare.length > 0
      ? [
          {
            id: 'accepted_to_bare_floor',
            label: 'accepted packages/s to the bare floor',
            ...ratio('spread', 'bare'),
          },
        ]
      : []),
    {
      id: 'accepted_to_naive',
      label: 'accepted packages/s to the naive server',
      ...ratio('spread', 'naive'),
      wanted: { at: 'least', must: 4, goal: 6 },
    },
    {
      id: 'hot_to_spread',
      label: 'one receiving organization to 100',
      ...ratio('hot', 'spread'),
      wanted: { at: 'least', must: 0.9 },
    },
    {
      id: 'tls_to_plain',
      label: 'with TLS to without',
      ...ratio('tls', 'spread'),
      wanted: { at: 'least', must: 0.8 },
    },
    ...(results.unnamed.length > 0
      ? [
          {
            id: 'unnamed_to_named',
            label: 'unnamed statements, as for PgBouncer, to named ones',
            ...ratio('unnamed', 'spread'),
          },
        ]
      : []),
    {
      id: 'p99_at_half_load_to_single',
      label: 'p99 at half load to one request at a time',
      value: p99 / one,
      wanted: { at: 'most', must: 15 },
    },
  ]
}

export function packageNotes({ folder, postgres }: TestBed): string[] {
  return [
    `PostgreSQL ${postgres.version} with the settings of the embedded default, fsync on, over TCP on this machine as with ` +
      'DATABASE_URL (over its Unix socket: not with --quick).',
    'Packages are signed and their policy receipts are in the database (copies of a row of the service) before ' +
      'the clock starts. Tokens are from the token endpoint. The load comes from another process.',
    'The floor is the HTTP server of the service without a database: tokens, headers, limits, parsing, schemas, ' +
      'signature, digest and request log are real; nothing is signed or stored. The ' +
      'bare floor (not with --quick) is the framework with parsing, signature and digest only.',
    'The naive server stores the same data in a separate database of the same PostgreSQL, with as many ' +
      'connections as the service.',
    ...(folder.isOnDisk
      ? []
      : [
          'The database is in memory here (tmpfs), so fsync is free: set AEX_BENCH_DIR to a folder on a disk.',
        ]),
  ]
}

type Member = keyof Measured

const each = (list: readonly Measured[], member: Member) => list.map((measured) => measured[member])

export const rateOf = (list: readonly Measured[]) => median(each(list, 'perSecond'))

export function rateFigures(contenders: readonly Contender[], results: Results): Figure[] {
  const reference = { name: 'floor', value: rateOf(results.floor) }
  return contenders.map(({ name, label }) => {
    const id = name === 'spread' ? 'accepted_per_second' : `accepted_${name}_per_second`
    return figureOf(id, label, 'per_second', each(results[name], 'perSecond'), {
      isOther: name === 'floor' || name === 'bare' || name === 'naive',
      ...(name !== 'floor' && { reference }),
    })
  })
}

const time = (id: string, label: string, list: readonly Measured[], member: Member) =>
  figureOf(id, label, 'milliseconds', each(list, member))

const cost = (id: string, whose: string, list: readonly Measured[], member: Member) =>
  figureOf(id, `CPU of ${whose}, a package`, 'microseconds', each(list, member))

export function timeFigures({ spread }: Results, { single, half }: Latencies): Figure[] {
  return [
    time('accepted_p50_ms', 'p50 at 64 clients', spread, 'p50Ms'),
    time('accepted_p99_ms', 'p99 at 64 clients', spread, 'p99Ms'),
    time('single_request_ms', 'one request at a time, p50', single, 'p50Ms'),
    time('half_load_p50_ms', 'p50 at half of the maximum', half, 'p50Ms'),
    time('half_load_p99_ms', 'p99 at half of the maximum', half, 'p99Ms'),
  ]
}

/** CPU time per package and process, which is more stable than rates on a shared machine. */
export function costFigures({ spread, floor, bare, naive }: Results): Figure[] {
  return [
    cost('package_service_cpu_us', 'the service', spread, 'serverMicroseconds'),
    cost('package_postgres_cpu_us', 'PostgreSQL', spread, 'postgresMicroseconds'),
    cost('package_load_cpu_us', 'the load', spread, 'loadMicroseconds'),
    cost('package_floor_cpu_us', 'the floor', floor, 'serverMicroseconds'),
    ...(bare.length > 0 ? [cost('package_bare_cpu_us', 'the bare floor', bare, 'serverMicroseconds')] : []),
    cost('package_naive_cpu_us', 'the naive server', naive, 'serverMicroseconds'),
  ]
}

/** All results by contender. */
export function detailsOf(contenders: readonly Contender[], results: Results): Table {
  const middle = (name: ContenderName, member: Member, digits = 0) =>
    median(each(results[name], member)).toFixed(digits)
  return {
    title: 'By contender: latency in ms, CPU in µs a package',
    head: ['', 'per second', 'p50', 'p99', 'server CPU', 'PostgreSQL CPU', 'load CPU'],
    rows: contenders.map(({ name, label }) => [
      label,
      middle(name, 'perSecond'),
      middle(name, 'p50Ms', 1),
      middle(name, 'p99Ms', 1),
      middle(name, 'serverMicroseconds'),
      middle(name, 'postgresMicroseconds'),
      middle(name, 'loadMicroseconds'),
    ]),
  }
}
