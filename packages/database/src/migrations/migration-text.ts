import { countByRole } from './live-processes.ts'
import type { Migrated } from './migrate.ts'
import type { MigrationPlan } from './plan.ts'

/** What a migration did, for people. */
export function migratedText({ applied, waiting }: Migrated): string[] {
  const lines =
    applied.length > 0
      ? applied.map((name) => `Applied ${name}`)
      : ['Nothing to apply: the schema is that of this release.']
  if (!waiting) return lines
  const { older_processes: older, backfill } = waiting
  return [
    ...(applied.length > 0 ? lines : []),
    `${waiting.name} waits${reasons(older.length > 0 ? countByRole(older) : undefined, backfill)}.`,
    'A running process of this release applies it as soon as it can.',
  ]
}

function reasons(older: string | undefined, backfill: boolean): string {
  const parts = [
    ...(older === undefined ? [] : [` until older processes have stopped (${older})`]),
    ...(backfill ? [' until its backfill is complete'] : []),
  ]
  return parts.join(' and')
}

/** What a migration would do, for people. */
export function planText({
  database,
  release,
  processes,
  migrations,
  running_processes_can_stay,
}: MigrationPlan): string[] {
  const running = processes.length === 0 ? 'none' : countByRole(processes)
  const state = [
    `Database  ${database ?? 'empty'}`,
    `Release   ${release ?? 'without migrations'}`,
    `Running   ${running}`,
    '',
  ]
  if (migrations.length === 0) return [...state, 'Nothing to apply.']
  return [
    ...state,
    ...migrations.flatMap(migrationText),
    '',
    running_processes_can_stay
      ? 'Running processes can stay: start this release beside them, then stop them one after the other.'
      : 'Running processes cannot stay: stop them all before you start this release.',
  ]
}

function migrationText(migration: MigrationPlan['migrations'][number]): string[] {
  const { name, phase, oldest_code, locks, backfill, waits_for_backfill, older_processes } = migration
  const lockText = locks?.map(({ table, mode }) => `${table} (${mode})`).join(', ')
  const isWaiting = phase === 'contract' && (older_processes.length > 0 || waits_for_backfill)
  const older = older_processes.length > 0 ? countByRole(older_processes) : undefined
  return [
    `${name}  ${phase}`,
    phase === 'undeclared'
      ? '  declares nothing: no older release can run beside it, and any table may be locked'
      : `  runs beside releases that end at ${String(oldest_code).padStart(4, '0')} or later`,
    ...(lockText === undefined ? [] : [`  locks briefly: ${lockText === '' ? 'nothing' : lockText}`]),
    ...(backfill === undefined ? [] : [`  backfill, by running processes in steps: ${backfill}`]),
    ...(isWaiting ? [`  waits${reasons(older, waits_for_backfill)}`] : []),
  ]
}
