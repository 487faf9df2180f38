import type { Queries } from '../database.ts'
import { ALIVE_SECONDS } from './process-liveness.ts'

/** Releases that do not report their level ended at this migration. */
const UNREPORTED_LEVEL = 9
const MAXIMUM_LISTED = 200

export interface LiveProcess {
  readonly process_id: string
  readonly role: string
  readonly code_level: number
}

export interface RegisteredProcess extends LiveProcess {
  readonly seen_at: string
  /** Whether it reported recently. A process that could not reach the database did not. */
  readonly is_live: boolean
}

/**
 * Processes that have not removed their registration: those that run, and for an hour those that were killed. The oldest
 * releases come first. The table and its column may be missing: the schema can be of any release.
 */
export async function listRegisteredProcesses(db: Queries): Promise<RegisteredProcess[]> {
  const [table] = await db<{ exists: boolean }[]>`
    select to_regclass('service_process') is not null as exists`
  if (!table?.exists) return []
  const rows = await db<RegisteredProcess[]>`
    select process_id, role, seen_at, seen_at > now() - make_interval(secs => ${ALIVE_SECONDS}) as is_live,
      coalesce((to_jsonb(service_process) ->> 'code_level')::integer, ${UNREPORTED_LEVEL}::integer) as code_level
    from service_process order by code_level, started_at, process_id limit ${MAXIMUM_LISTED}`
  return [...rows]
}

/** Processes that reported recently. */
export const liveAmong = (processes: readonly RegisteredProcess[]): LiveProcess[] =>
  processes.filter(({ is_live }) => is_live).map(toLiveProcess)

export const toLiveProcess = ({ process_id, role, code_level }: LiveProcess): LiveProcess => ({
  process_id,
  role,
  code_level,
})

/** Such as `2 api, 1 worker`. */
export function countByRole(processes: readonly LiveProcess[]): string {
  const roles = Map.groupBy(processes, ({ role }) => role)
  return [...roles].map(([role, of]) => `${of.length} ${role}`).join(', ')
}
