import type { Clock } from '@agent-exchange/server/clock'

export const COUNTED = [
  'packages_accepted',
  'deliveries_delivered',
  'deliveries_retried',
  'deliveries_failed',
  'deliveries_dead',
  'problems_4xx',
  'problems_5xx',
] as const
export const TIMED = ['acceptance', 'delivery'] as const
export type Counted = (typeof COUNTED)[number]
export type Timed = (typeof TIMED)[number]

/** Upper bounds of the buckets of a latency, in milliseconds. The last bucket has none. */
export const LATENCY_BOUNDS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000] as const

export interface ActivityRow {
  readonly minute: string
  readonly metric: Counted | Timed
  /** Of a latency; 0 for a counter. */
  readonly bucket: number
  readonly count: number
}

/** Minutes that wait for the database. Older ones are dropped, so that memory stays bounded while it is away. */
const MAXIMUM_MINUTES = 30

export type Activity = ReturnType<typeof createActivity>

/** Counters of this process, by minute, until they are added to those of all processes. */
export function createActivity(clock: Clock) {
  let minutes = new Map<string, Map<string, ActivityRow>>()

  function add(row: ActivityRow): void {
    let rows = minutes.get(row.minute)
    if (!rows) {
      minutes.set(row.minute, (rows = new Map()))
      if (minutes.size > MAXIMUM_MINUTES) minutes.delete([...minutes.keys()].toSorted()[0] ?? '')
    }
    const name = `${row.metric} ${row.bucket}`
    rows.set(name, { ...row, count: row.count + (rows.get(name)?.count ?? 0) })
  }

  return {
    count: (metric: Counted) => add({ minute: minuteOf(clock.now()), metric, bucket: 0, count: 1 }),
    observe(metric: Timed, milliseconds: number): void {
      const found = LATENCY_BOUNDS.findIndex((bound) => milliseconds <= bound)
      const bucket = found === -1 ? LATENCY_BOUNDS.length : found
      add({ minute: minuteOf(clock.now()), metric, bucket, count: 1 })
    },
    /** Takes everything that was counted. What cannot be stored comes back by `giveBack`. */
    take(): ActivityRow[] {
      const taken = [...minutes.values()].flatMap((rows) => [...rows.values()])
      minutes = new Map()
      return taken
    },
    giveBack: (rows: readonly ActivityRow[]) => rows.forEach(add),
  }
}

const MINUTE_CHARACTERS = '2026-03-02T08:00'.length

function minuteOf(time: string): string {
  return `${time.slice(0, MINUTE_CHARACTERS)}:00.000Z`
}
