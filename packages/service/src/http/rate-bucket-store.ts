import type { Database } from '@agent-exchange/database'

/** Table rate_bucket: token buckets that all processes share (O-13). */

export interface LeaseRequest {
  readonly holder: string
  /** Tokens; a whole number. */
  readonly wanted: number
}

export interface Lease {
  /** Whole tokens that the caller may use from now on. */
  readonly granted: number
  /** Tokens left in the bucket. */
  readonly left: number
}

interface SharedBucketRules {
  /** Tokens added per second. */
  readonly rate: number
  readonly burst: number
}

interface LeaseRow extends Lease {
  readonly holder: string
}

/** Takes tokens out of the buckets, as far as they are there. Results in the order of the requests. */
export async function leaseTokens(
  db: Database,
  requests: readonly LeaseRequest[],
  rules: SharedBucketRules,
): Promise<Lease[]> {
  const wanted = new Map<string, number>()
  for (const request of requests)
    wanted.set(request.holder, request.wanted + (wanted.get(request.holder) ?? 0))
  const leased = await leaseEach(db, wanted, rules)
  return requests.map((request) => {
    const { granted, left } = leased.get(request.holder) ?? { granted: 0, left: 0 }
    const own = Math.min(request.wanted, granted)
    leased.set(request.holder, { granted: granted - own, left })
    return { granted: own, left }
  })
}

/**
 * One statement, which locks the rows in sorted order. The time is that of the server, read before the lock, so it may
 * be a little earlier than that of the previous lease. A much earlier one means that the clock was set back.
 */
async function leaseEach(
  db: Database,
  wanted: ReadonlyMap<string, number>,
  { rate, burst }: SharedBucketRules,
): Promise<Map<string, Lease>> {
  const requests = [...wanted].map(([holder, count]) => ({ holder, wanted: count }))
  const rows = await db<LeaseRow[]>`
    insert into rate_bucket as bucket (holder, tokens, granted, filled_at)
    select holder, ${burst}::float8 - least(wanted, ${burst}::float8), least(wanted, ${burst}::float8),
      clock_timestamp()
    from json_to_recordset(${JSON.stringify(requests)}::text::json) as request (holder text, wanted float8)
    order by holder
    on conflict (holder) do update set
      granted = least(excluded.granted, floor(least(${burst}::float8, bucket.tokens + ${rate}::float8
        * greatest(0, extract(epoch from excluded.filled_at - bucket.filled_at))))),
      tokens = least(${burst}::float8, bucket.tokens + ${rate}::float8
        * greatest(0, extract(epoch from excluded.filled_at - bucket.filled_at)))
        - least(excluded.granted, floor(least(${burst}::float8, bucket.tokens + ${rate}::float8
        * greatest(0, extract(epoch from excluded.filled_at - bucket.filled_at))))),
      filled_at = case when bucket.filled_at > excluded.filled_at + interval '5 seconds' then excluded.filled_at
        else greatest(bucket.filled_at, excluded.filled_at) end
    returning holder, granted, tokens as left`
  return new Map(rows.map(({ holder, granted, left }) => [holder, { granted, left }]))
}

const STEP_ROWS = 1_000

/** A missing bucket is a full one, so buckets that nobody has used for a day need no row. */
export async function removeIdleBuckets(db: Database): Promise<void> {
  await db`
    delete from rate_bucket where holder in (
      select holder from rate_bucket where filled_at < now() - interval '1 day' order by filled_at
      limit ${STEP_ROWS})`
}
