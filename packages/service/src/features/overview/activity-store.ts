import type { Database, Queries, Transaction } from '@agent-exchange/database'
import type { ActivityRow } from '../../kernel/activity.ts'

/** Table activity_minute: adds what one process counted. Rows are sorted, so that processes never deadlock. */
export async function addActivity(db: Database, rows: readonly ActivityRow[]): Promise<void> {
  if (rows.length === 0) return
  await db`
    insert into activity_minute as known (minute, metric, bucket, count)
    select minute, metric, bucket, count
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as row (minute timestamptz, metric text, bucket smallint, count bigint)
    order by minute, metric, bucket
    on conflict (minute, metric, bucket) do update set count = known.count + excluded.count`
}

export interface ActivitySum {
  /** Start of the interval. */
  readonly at: string
  readonly metric: ActivityRow['metric']
  readonly bucket: number
  readonly count: number
}

/** Sums in intervals of `stepSeconds` from `since` on. */
export async function sumActivity(
  db: Queries,
  { since, stepSeconds }: { since: string; stepSeconds: number },
): Promise<ActivitySum[]> {
  return db<ActivitySum[]>`
    select date_bin(make_interval(secs => ${stepSeconds}), minute, ${since}::timestamptz) as at, metric, bucket,
      sum(count)::bigint as count
    from activity_minute where minute >= ${since} group by 1, 2, 3`
}

const STEP_ROWS = 1_000

export async function removeActivity(tx: Transaction, before: string): Promise<number> {
  const { count } = await tx`
    delete from activity_minute where (minute, metric, bucket) in (
      select minute, metric, bucket from activity_minute where minute < ${before}
      order by minute, metric, bucket limit ${STEP_ROWS})`
  return count
}
