import type { Database, Queries } from '@agent-exchange/database'

/** The row of retention_progress that dates the last run as a whole. */
const TASK = 'run'

export async function recordRun(db: Database, now: string): Promise<void> {
  await db`
    insert into retention_progress (task, done_until) values (${TASK}, ${now})
    on conflict (task) do update set done_until = excluded.done_until`
}

/** If there was no run yet, the period begins now. */
export async function startRecordingRuns(db: Database, now: string): Promise<void> {
  await db`insert into retention_progress (task, done_until) values (${TASK}, ${now}) on conflict do nothing`
}

export async function readLastRun(db: Queries): Promise<string | undefined> {
  const [row] = await db<{ done_until: string }[]>`
    select done_until from retention_progress where task = ${TASK}`
  return row?.done_until
}
