import { identifier, type Database } from '@agent-exchange/database'
import type { PeriodicTask } from '@agent-exchange/server/periodic'

const EVERY_SECONDS = 5
/** A smaller table is read quickly, whatever the plan. */
const WORTH_BYTES = 65_536

/**
 * Nearly every index begins with the agent. To the planner they look the same until a table was analyzed, and a plan
 * that is made before reads all rows of an agent to find one. PostgreSQL analyzes a new table after a minute or more.
 *
 * @returns how many tables were analyzed
 */
export async function analyzeYoungTables(db: Database): Promise<number> {
  const young = await db<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and reltuples < 0
      and pg_relation_size(oid) >= ${WORTH_BYTES}`
  for (const { name } of young) await db`analyze ${identifier(name)}`
  return young.length
}

export const analysisTask = (db: Database): PeriodicTask => ({
  name: 'analyze tables that never were',
  everySeconds: EVERY_SECONDS,
  run: () => analyzeYoungTables(db),
})
