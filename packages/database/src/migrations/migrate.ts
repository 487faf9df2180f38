import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseFailure, isLockTimeout } from '../database-errors.ts'
import type { Database, Queries, Transaction } from '../database.ts'
import { createMigrationTable, listApplied, recordMigration, requireUsable } from './applied-migrations.ts'
import { countByRole, listRegisteredProcesses, liveAmong, type LiveProcess } from './live-processes.ts'
import type { Migration } from './migration-files.ts'
import { headerOf, type MigrationHeader } from './migration-header.ts'
import { countAllRegistered, type ProcessWatch } from './process-watch.ts'

/** Any number that no other advisory lock uses. */
export const MIGRATION_LOCK = 7_204_119
const OLDEST_SERVER = 15
/** A migration that waits for a table lock blocks everyone behind it, so it gives up and tries again. */
const LOCK_LIMIT = '2s'
const LOCK_TRIES = 30
const LOCK_PAUSE_MS = 500
/** The backend of a process that was killed would hold the lock of migrations until its statement ends. */
const CLIENT_CHECK = '10s'

/** Why a contract migration waits. */
export interface Waiting {
  readonly name: string
  readonly older_processes: readonly LiveProcess[]
  /** True: rows remain that a backfill has to fill in. */
  readonly backfill: boolean
}

export interface Migrated {
  /** The migrations that this call applied. */
  readonly applied: readonly string[]
  /** The contract migration that cannot be applied yet. */
  readonly waiting: Waiting | undefined
}

/**
 * Migrates the database, forward only. Processes may do so concurrently: each migration is one
 * transaction under one lock, and the second process finds it applied.
 *
 * @param announce registers this process, in the transaction that finds nothing more to apply: no contract migration
 *   can miss it
 * @param watch knows from earlier calls which processes are gone; without it, every registered process counts for contract
 *   migrations
 * @throws {DatabaseFailure} if the server is too old, this release cannot run on the schema, or older processes run
 *   that would not survive a migration
 */
export async function migrate(
  db: Database,
  migrations: readonly Migration[],
  announce?: (tx: Transaction) => Promise<unknown>,
  watch: ProcessWatch = countAllRegistered,
): Promise<Migrated> {
  await checkServer(db)
  const applied: string[] = []
  for (let step = 0; step <= migrations.length; step++) {
    const result = await withLockRetries(() =>
      db.begin((tx) => applyNext(tx, migrations, { announce, watch })),
    )
    if (typeof result !== 'string') return { applied, waiting: result }
    applied.push(result)
  }
  return { applied, waiting: undefined }
}

async function checkServer(db: Database): Promise<void> {
  const [row] = await db<{ version: string }[]>`select current_setting('server_version') as version`
  const major = Number.parseInt(row?.version ?? '', 10)
  if (major >= OLDEST_SERVER) return
  throw new DatabaseFailure(
    `The database server is PostgreSQL ${row?.version}. Use PostgreSQL ${OLDEST_SERVER} or later.`,
  )
}

async function withLockRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (tries === LOCK_TRIES)
        throw new DatabaseFailure(
          `A migration could not lock its tables in ${LOCK_TRIES} tries, because other sessions hold them. ` +
            'Nothing of it was applied. End long transactions (pg_stat_activity), then try again.',
        )
      await sleep(LOCK_PAUSE_MS)
    }
  }
}

interface ApplyHooks {
  readonly announce: ((tx: Transaction) => Promise<unknown>) | undefined
  readonly watch: ProcessWatch
}

/** Not every operating system can do it. */
async function watchClient(tx: Transaction): Promise<void> {
  await tx.unsafe(`
    do $$ begin
      perform set_config('client_connection_check_interval', '${CLIENT_CHECK}', true);
    exception when invalid_parameter_value then null;
    end $$`)
}

/** The name of the applied migration. If none can be applied: why the first one waits, or undefined if none is left. */
async function applyNext(
  tx: Transaction,
  migrations: readonly Migration[],
  { announce, watch }: ApplyHooks,
): Promise<string | Waiting | undefined> {
  // Both the wait for another process and a migration may take long.
  await tx`set local statement_timeout = 0`
  await tx`set local lock_timeout = 0`
  await watchClient(tx)
  await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`
  await tx.unsafe(`set local lock_timeout = '${LOCK_LIMIT}'`)
  await createMigrationTable(tx)
  const done = await listApplied(tx)
  requireUsable(done, migrations)
  const registered = await listRegisteredProcesses(tx)
  const processes = { live: liveAmong(registered), present: watch(registered) }
  let firstWaiting: Waiting | undefined
  // Later expand migrations overtake a contract migration that waits.
  for (const next of missingFrom(done, migrations)) {
    const header = headerOf(next)
    const waiting = await reasonToWait(tx, next, header, processes)
    firstWaiting ??= waiting
    if (waiting) continue
    await tx.unsafe(next.sql)
    await recordMigration(tx, next, header)
    return next.name
  }
  await announce?.(tx)
  return firstWaiting
}

export function missingFrom(
  done: readonly { readonly number: number }[],
  migrations: readonly Migration[],
): Migration[] {
  const numbers = new Set(done.map(({ number }) => number))
  return migrations.filter(({ number }) => !numbers.has(number))
}

/** @throws {DatabaseFailure} if older processes run beside a migration that is not a contract */
async function reasonToWait(
  tx: Transaction,
  { name }: Migration,
  header: MigrationHeader,
  { live, present }: { readonly live: readonly LiveProcess[]; readonly present: readonly LiveProcess[] },
): Promise<Waiting | undefined> {
  if (header.phase === 'contract') {
    const older = olderThan(header, present)
    const backfill = await isBackfillOpen(tx, header)
    return older.length > 0 || backfill ? { name, older_processes: older, backfill } : undefined
  }
  const older = olderThan(header, live)
  if (older.length === 0) return undefined
  throw new DatabaseFailure(
    `${name} cannot be applied while processes of an older release run (${countByRole(older)}). ` +
      'Stop them first. A process that was killed counts as running for 35 seconds.',
  )
}

export function olderThan({ oldestCode }: MigrationHeader, processes: readonly LiveProcess[]): LiveProcess[] {
  return processes.filter(({ code_level }) => code_level < oldestCode)
}

export async function isBackfillOpen(db: Queries, { waitsWhile }: MigrationHeader): Promise<boolean> {
  if (waitsWhile === undefined) return false
  const [row] = await db.unsafe<{ open: boolean }[]>(`select (${waitsWhile}) as open`)
  return row?.open === true
}
