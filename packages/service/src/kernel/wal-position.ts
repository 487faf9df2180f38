import { fragment, type Queries } from '@agent-exchange/database'

/** How far the write-ahead log of the primary reached at some moment. */
export interface WalPosition {
  readonly lsn: string
  /** A failover starts the next timeline. LSNs of different timelines cannot be compared. */
  readonly timeline: number
}

/**
 * Columns for a statement on the primary. The insert position also covers commits that are visible but not yet flushed,
 * as with synchronous_commit=off.
 */
export const WAL_POSITION_COLUMNS = fragment`
  pg_current_wal_insert_lsn()::text as lsn,
  left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) as timeline`

export interface WalPositionRow {
  readonly lsn: string
  /** Hexadecimal: the first part of the name of a log file. */
  readonly timeline: string
}

export function toWalPosition({ lsn, timeline }: WalPositionRow): WalPosition {
  return { lsn, timeline: Number.parseInt(timeline, 16) }
}

/** Distinguishes a database from all others, and is the same on its physical replicas. */
export interface DatabaseIdentity {
  readonly system: string
  readonly name: string
}

export async function readDatabaseIdentity(queries: Queries): Promise<DatabaseIdentity> {
  const [row] = await queries<DatabaseIdentity[]>`
    select system_identifier::text as system, current_database()::text as name from pg_control_system()`
  if (!row) throw new Error('the database did not answer with its identity')
  return row
}

export interface ReplayState extends DatabaseIdentity {
  readonly hasReplayed: boolean
}

/**
 * Whether this session's server is a standby that has replayed everything up to the position. After a failover, a
 * standby counts as behind until its first restartpoint on the new timeline: one that followed the former primary
 * further than the new one did contains commits that were lost.
 */
export async function readReplayState(
  queries: Queries,
  { lsn, timeline }: WalPosition,
): Promise<ReplayState> {
  const [row] = await queries<ReplayState[]>`
    select system_identifier::text as system, current_database()::text as name,
      pg_is_in_recovery() and timeline_id = ${timeline}
        and coalesce(pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn, false) as "hasReplayed"
    from pg_control_system(), pg_control_checkpoint()`
  if (!row) throw new Error('the replica did not answer with its state')
  return row
}
