import type { Queries, Transaction } from '@agent-exchange/database'

/** This file owns the table log_origin: one row for each origin after the first. */
export interface OriginRow {
  readonly origin: string
  readonly previousOrigin: string
  /** The last checkpoint of the previous log. */
  readonly previousCheckpoint: string
  readonly startedAt: string
}

export async function insertOrigin(tx: Transaction, row: OriginRow): Promise<void> {
  await tx`
    insert into log_origin (origin, previous_origin, previous_checkpoint, started_at)
    values (${row.origin}, ${row.previousOrigin}, ${row.previousCheckpoint}, ${row.startedAt})`
}

/** Whether a log or a checkpoint has ever had this name. */
export async function wasUsed(tx: Transaction, origin: string): Promise<boolean> {
  const found = await tx`
    select from log_origin where origin = ${origin} or previous_origin = ${origin}
    union all select from log_checkpoint where origin = ${origin} limit 1`
  return found.length > 0
}

export interface PreviousLog {
  readonly origin: string
  readonly checkpoint: string
}

export async function readPreviousLog(queries: Queries, origin: string): Promise<PreviousLog | undefined> {
  const [row] = await queries<PreviousLog[]>`
    select previous_origin as origin, previous_checkpoint as checkpoint from log_origin where origin = ${origin}`
  return row
}

/** Undefined start: the first origin. Undefined end: the present one. */
export async function readOriginPeriod(
  queries: Queries,
  origin: string,
): Promise<{ readonly start: string | undefined; readonly end: string | undefined }> {
  const rows = await queries<{ origin: string; started_at: string }[]>`
    select origin, started_at from log_origin where origin = ${origin} or previous_origin = ${origin}`
  return {
    start: rows.find((row) => row.origin === origin)?.started_at,
    end: rows.find((row) => row.origin !== origin)?.started_at,
  }
}
