import { fragment, type Queries, type Transaction } from '@agent-exchange/database'

/** Table operator_log: append-only. */
export interface LogEntry {
  readonly entry: number
  readonly recorded_at: string
  readonly actor: string
  /** Such as organization.suspend. */
  readonly action: string
  readonly target: string
  readonly reason: string | null
  /** JSON text. */
  readonly details: string
}

export interface NewLogEntry {
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly reason: string | undefined
  readonly details: object
  readonly now: string
}

/** Written in the transaction of the change that it speaks of. */
export async function appendToLog(tx: Transaction, entry: NewLogEntry): Promise<void> {
  await tx`
    insert into operator_log (recorded_at, actor, action, target, reason, details)
    values (${entry.now}, ${entry.actor}, ${entry.action}, ${entry.target}, ${entry.reason ?? null},
      ${JSON.stringify(entry.details)})`
}

/** Many entries by one statement. */
export async function appendAllToLog(tx: Transaction, entries: readonly NewLogEntry[]): Promise<void> {
  const rows = entries.map(({ now, details, reason, ...entry }) => ({
    ...entry,
    reason: reason ?? null,
    recorded_at: now,
    details: JSON.stringify(details),
  }))
  await tx`
    insert into operator_log (recorded_at, actor, action, target, reason, details)
    select recorded_at, actor, action, target, reason, details
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      recorded_at timestamptz, actor text, action text, target text, reason text, details text)`
}

export interface LogFilter {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly target?: string | undefined
}

/** The newest first. Each filter has an index in the order of the entries. */
export async function listLog(
  db: Queries,
  { actor, action, target }: LogFilter,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<LogEntry[]> {
  return db.byIndex<LogEntry[]>`
    select entry, recorded_at, actor, action, target, reason, details from operator_log
    where true
      ${before === undefined ? fragment`` : fragment`and entry < ${before}`}
      ${actor === undefined ? fragment`` : fragment`and actor = ${actor}`}
      ${action === undefined ? fragment`` : fragment`and action = ${action}`}
      ${target === undefined ? fragment`` : fragment`and target = ${target}`}
    order by entry desc limit ${limit}`
}
