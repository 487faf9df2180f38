import type { Queries } from '@agent-exchange/database'

export interface AttemptWindow {
  readonly bucket: number
  readonly now: string
  /** A window that began before this time is over. */
  readonly windowAfter: string
}

/** Table sign_in_attempts: counts an attempt and returns the count of the current window. */
export async function countAttempt(
  db: Queries,
  { bucket, now, windowAfter }: AttemptWindow,
): Promise<{ readonly attempts: number; readonly window_start: string }> {
  const [row] = await db<{ attempts: number; window_start: string }[]>`
    insert into sign_in_attempts as known (bucket, window_start, attempts) values (${bucket}, ${now}, 1)
    on conflict (bucket) do update set
      attempts = case when known.window_start > ${windowAfter} then least(known.attempts, 1000000) + 1 else 1 end,
      window_start = case when known.window_start > ${windowAfter} then known.window_start else ${now} end
    returning attempts, window_start`
  return row ?? { attempts: 1, window_start: now }
}
