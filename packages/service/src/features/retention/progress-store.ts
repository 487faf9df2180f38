import type { Database, Queries } from '@agent-exchange/database'

/** The owner of the table retention_progress. */

/** The row that dates the last run as a whole. */
const RUN = 'run'

export async function recordRun(db: Database, now: string): Promise<void> {
  await saveProgress(db, RUN, now)
}

/** Everything until that time is done. */
export async function saveProgress(db: Queries, task: string, doneUntil: string): Promise<void> {
  await db`
    insert into retention_progress (task, done_until) values (${task}, ${doneUntil})
    on conflict (task) do update set done_until = excluded.done_until`
}

/** If there was no run yet, the period begins now. */
export async function startRecordingRuns(db: Database, now: string): Promise<void> {
  await db`insert into retention_progress (task, done_until) values (${RUN}, ${now}) on conflict do nothing`
}

export async function readLastRun(db: Queries): Promise<string | undefined> {
  const [row] = await db<{ done_until: string }[]>`
    select done_until from retention_progress where task = ${RUN}`
  return row?.done_until
}
