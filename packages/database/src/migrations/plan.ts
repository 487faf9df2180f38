import type { Database } from '../database.ts'
import { listApplied, requireUsable } from './applied-migrations.ts'
import {
  liveAmong,
  listRegisteredProcesses,
  type LiveProcess,
  type RegisteredProcess,
} from './live-processes.ts'
import { isBackfillOpen, missingFrom, olderThan } from './migrate.ts'
import type { Migration } from './migration-files.ts'
import { headerOf, type MigrationHeader, type TableLock } from './migration-header.ts'
import { countAllRegistered } from './process-watch.ts'

export interface PlannedMigration {
  readonly name: string
  readonly phase: MigrationHeader['phase']
  /** The oldest release that can run on the schema afterwards, named by its last migration. */
  readonly oldest_code: number
  /** Undefined: not declared, so any table may be locked. */
  readonly locks: readonly TableLock[] | undefined
  /** Rows that a periodic task fills in afterwards. */
  readonly backfill: string | undefined
  /** True: a contract migration that waits until its backfill is complete. */
  readonly waits_for_backfill: boolean
  /** Processes that would not survive the migration: those that run; for a contract also those that may still run. */
  readonly older_processes: readonly LiveProcess[]
}

export interface MigrationPlan {
  /** The last applied migration; undefined: the database is empty. */
  readonly database: string | undefined
  /** The last migration of this release. */
  readonly release: string | undefined
  readonly processes: readonly LiveProcess[]
  readonly migrations: readonly PlannedMigration[]
  /** Whether the running processes keep working while this release starts beside them. */
  readonly running_processes_can_stay: boolean
}

/**
 * What `migrate` would do. Changes nothing and takes no lock.
 *
 * @throws {DatabaseFailure} if this release cannot run on the schema
 */
export async function planMigrations(db: Database, migrations: readonly Migration[]): Promise<MigrationPlan> {
  const done = await listApplied(db)
  requireUsable(done, migrations)
  const registered = await listRegisteredProcesses(db)
  const processes = liveAmong(registered)
  const missing = missingFrom(done, migrations)
  const planned: PlannedMigration[] = []
  for (const [index, migration] of missing.entries())
    // The condition of a later migration may name columns that an earlier one adds.
    planned.push(await planOne(db, migration, { processes, registered, isNext: index === 0 }))
  return {
    database: done.at(-1)?.name,
    release: migrations.at(-1)?.name,
    processes,
    migrations: planned,
    running_processes_can_stay: planned.every(
      ({ phase, older_processes }) => phase === 'contract' || older_processes.length === 0,
    ),
  }
}

interface PlanState {
  readonly processes: readonly LiveProcess[]
  readonly registered: readonly RegisteredProcess[]
  readonly isNext: boolean
}

async function planOne(
  db: Database,
  migration: Migration,
  { processes, registered, isNext }: PlanState,
): Promise<PlannedMigration> {
  const header = headerOf(migration)
  return {
    name: migration.name,
    phase: header.phase,
    oldest_code: header.oldestCode,
    locks: header.phase === 'undeclared' ? undefined : header.locks,
    backfill: header.backfill,
    waits_for_backfill: isNext ? await isBackfillOpen(db, header) : header.waitsWhile !== undefined,
    // As `migrate` decides: one read does not show that a process is gone.
    older_processes: olderThan(
      header,
      header.phase === 'contract' ? countAllRegistered(registered) : processes,
    ),
  }
}
