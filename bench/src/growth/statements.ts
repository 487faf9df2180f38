import { open, type DatabaseTarget } from '../exchange/postgres-server.ts'

/** Sequential scans of smaller tables are acceptable. */
const LARGE_ROWS = 1_000

export interface Explained {
  readonly statement: string
  readonly calls: number
  readonly meanMs: number
  /** Large tables with a sequential scan in its plan. */
  readonly scanned: readonly string[]
  /** Why PostgreSQL could not explain the statement. */
  readonly failure?: string
}

export async function forgetStatements(superuser: DatabaseTarget): Promise<void> {
  await using db = open(superuser)
  await db`create extension if not exists pg_stat_statements`
  await db`select pg_stat_statements_reset()`
}

/** Every statement of the service since the reset, with its generic plan. */
export async function explainStatements(superuser: DatabaseTarget, role: string): Promise<Explained[]> {
  await using db = open(superuser)
  const large = await largeTables(superuser)
  const statements = await db<{ query: string; calls: number; mean: number }[]>`
    select query, calls::integer as calls, mean_exec_time as mean
    from pg_stat_statements join pg_roles on pg_roles.oid = userid
    where rolname = ${role} and dbid = (select oid from pg_database where datname = current_database())
      and query ~* '^\\s*(select|insert|update|delete|with)'
    order by total_exec_time desc`
  const explained: Explained[] = []
  for (const { query, calls, mean } of statements) {
    const about = { statement: query.replaceAll(/\s+/g, ' ').trim(), calls, meanMs: mean }
    try {
      const [plan] = await db.unsafe<Record<string, unknown>[]>(
        `explain (generic_plan, format json) ${query}`,
      )
      const scanned = [...new Set(scansIn(plan?.['QUERY PLAN']))].filter((table) => large.has(table))
      explained.push({ ...about, scanned })
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error)
      explained.push({ ...about, scanned: [], failure })
    }
  }
  return explained
}

async function largeTables(target: DatabaseTarget): Promise<Set<string>> {
  await using db = open(target)
  const rows = await db<{ name: string }[]>`
    select relname as name from pg_class where relkind = 'r' and reltuples > ${LARGE_ROWS}`
  return new Set(rows.map(({ name }) => name))
}

/** Finds scans anywhere in the plan tree. */
function scansIn(plan: unknown): string[] {
  if (Array.isArray(plan)) return plan.flatMap(scansIn)
  if (typeof plan !== 'object' || plan === null) return []
  const node = plan as Record<string, unknown>
  const own = node['Node Type'] === 'Seq Scan' ? [String(node['Relation Name'])] : []
  return [...own, ...Object.values(node).flatMap(scansIn)]
}
