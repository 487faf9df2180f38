import { visible } from '../../visible.ts'
import { wrapText } from '../../wrap-text.ts'

/** The members of `GET /operator/v1/overview` that the report shows. */
export interface Overview {
  readonly status: 'healthy' | 'degraded' | 'failing'
  readonly now: string
  readonly issues: readonly { readonly severity: 'bad' | 'warn'; readonly text: string }[]
  readonly backlog: { readonly oldest_due_at: string | null; readonly pending: number }
  readonly dead_letters: number
  readonly disabled_endpoints: readonly object[]
  /** These two are absent in the answer of an older exchange. */
  readonly failed_deliveries?: number
  readonly failing_endpoints?: readonly object[]
  readonly keys: readonly { readonly purpose: string; readonly valid_until: string }[]
  readonly database_bytes: number
  /** Absent in the answer of an older exchange. */
  readonly replication?: 'none' | 'asynchronous' | 'synchronous'
  readonly processes: readonly { readonly role: string; readonly disk_free_bytes: number | null }[]
  readonly log: {
    readonly state: string
    readonly size: number
    readonly published_size: number
    readonly witnesses: readonly { readonly outcome: string }[]
  }
  readonly hour: readonly Point[]
  readonly day: readonly Point[]
}

interface Point {
  readonly packages_accepted: number
  readonly deliveries_delivered: number
  readonly deliveries_failed: number
  readonly deliveries_dead: number
  readonly problems_4xx: number
  readonly problems_5xx: number
  readonly acceptance_p99: number | null
  readonly delivery_p99: number | null
}

const MARKS = { bad: '✖', warn: '!' }
const HEADLINES = { healthy: '✔ healthy', degraded: '! degraded', failing: '✖ failing' }
const BARS = '▁▂▃▄▅▆▇█'
const MEGABYTE = 1_000_000
const COLUMN = 12
const LABEL = 18

/** At most 80 columns. */
export function statusReport(overview: Overview): string {
  const { status, now, issues } = overview
  return [
    `${HEADLINES[status]}  ${now.slice(0, 16).replace('T', ' ')} UTC`,
    ...issues.flatMap(({ severity, text }) =>
      wrapText(visible(text), { indent: `  ${MARKS[severity]} `, hanging: '    ' }),
    ),
    '',
    ...facts(overview).flatMap(([name, value]) =>
      wrapText(value, { indent: name.padEnd(LABEL), hanging: ''.padEnd(LABEL) }),
    ),
    '',
    `${''.padEnd(LABEL)}${'last hour'.padStart(COLUMN)}${'last day'.padStart(COLUMN)}  last hour as a curve`,
    ...activity(overview),
  ]
    .map((line) => line.trimEnd())
    .join('\n')
}

function facts(overview: Overview): [string, string][] {
  const { backlog, log, keys, processes, now } = overview
  const age =
    backlog.oldest_due_at === null ? 0 : (Date.parse(now) - Date.parse(backlog.oldest_due_at)) / 1_000
  const free = processes.map(({ disk_free_bytes }) => disk_free_bytes).filter((bytes) => bytes !== null)
  const byRole = Map.groupBy(processes, ({ role }) => role)
  const cosigning = log.witnesses.filter(({ outcome }) => outcome === 'cosigned').length
  return [
    ['backlog', `${Math.round(age)} s old, ${backlog.pending} pending`],
    ['dead letters', `${overview.dead_letters} in 24 hours`],
    ['failed for good', `${overview.failed_deliveries ?? 0} in 24 hours`],
    [
      'endpoints',
      `${overview.failing_endpoints?.length ?? 0} failing, ${overview.disabled_endpoints.length} disabled`,
    ],
    ['log', `${log.state}, ${log.published_size} of ${log.size} leaves published`],
    ['witnesses', `${cosigning} of ${log.witnesses.length} cosign`],
    ['keys', keys.map(({ purpose, valid_until }) => `${purpose} ${valid_until.slice(0, 10)}`).join(', ')],
    ['database', `${megabytes(overview.database_bytes)}${replicated(overview)}`],
    ...(free.length > 0 ? [['disk free', megabytes(Math.min(...free))] as [string, string]] : []),
    ['processes', [...byRole].map(([role, each]) => `${each.length} ${role}`).join(', ')],
  ]
}

function replicated({ replication = 'none' }: Overview): string {
  return replication === 'none' ? '' : `, ${replication} replication`
}

function activity({ hour, day }: Overview): string[] {
  const counts: [string, keyof Point][] = [
    ['packages', 'packages_accepted'],
    ['delivered', 'deliveries_delivered'],
    ['failed', 'deliveries_failed'],
    ['given up', 'deliveries_dead'],
    ['problems 4xx', 'problems_4xx'],
    ['problems 5xx', 'problems_5xx'],
  ]
  const latencies: [string, keyof Point][] = [
    ['accept p99, ms', 'acceptance_p99'],
    ['deliver p99, ms', 'delivery_p99'],
  ]
  const sum = (points: readonly Point[], name: keyof Point) =>
    points.reduce((total, point) => total + (point[name] ?? 0), 0)
  const highest = (points: readonly Point[], name: keyof Point) =>
    Math.max(0, ...points.map((point) => point[name] ?? 0))
  const line =
    (value: typeof sum) =>
    ([title, name]: [string, keyof Point]) =>
      title.padEnd(LABEL) +
      [hour, day].map((points) => String(Math.round(value(points, name))).padStart(COLUMN)).join('') +
      `  ${curve(hour.map((point) => point[name] ?? 0))}`
  return [...counts.map(line(sum)), ...latencies.map(line(highest))]
}

function curve(values: readonly number[]): string {
  const top = Math.max(...values, 0)
  if (top === 0) return ''
  const bar = (value: number) =>
    value === 0 ? ' ' : (BARS[Math.min(BARS.length - 1, Math.floor((value / top) * BARS.length))] ?? '')
  return values.map(bar).join('').trimEnd()
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / MEGABYTE).toLocaleString('en')} MB`
}
