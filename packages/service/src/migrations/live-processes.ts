import type { Queries } from '../db/database.ts'
import { ALIVE_SECONDS } from '../kernel/process-liveness.ts'

/** Releases that do not report their level ended at this migration. */
const UNREPORTED_LEVEL = 9
const MAXIMUM_LISTED = 200

export interface LiveProcess {
  readonly process_id: string
  readonly role: string
  readonly code_level: number
}

/** Processes that reported recently. The table and its column may be missing: the schema can be of any release. */
export async function listLiveProcesses(db: Queries): Promise<LiveProcess[]> {
  const [table] = await db<{ exists: boolean }[]>`
    select to_regclass('service_process') is not null as exists`
  if (!table?.exists) return []
  const rows = await db<LiveProcess[]>`
    select process_id, role,
      coalesce((to_jsonb(service_process) ->> 'code_level')::integer, ${UNREPORTED_LEVEL}::integer) as code_level
    from service_process where seen_at > now() - make_interval(secs => ${ALIVE_SECONDS})
    order by started_at, process_id limit ${MAXIMUM_LISTED}`
  return [...rows]
}

/** Such as `2 api, 1 worker`. */
export function countByRole(processes: readonly LiveProcess[]): string {
  const roles = Map.groupBy(processes, ({ role }) => role)
  return [...roles].map(([role, of]) => `${of.length} ${role}`).join(', ')
}
