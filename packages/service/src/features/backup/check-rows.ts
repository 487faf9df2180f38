import { type Database, identifier } from '@agent-exchange/database'

interface TableCount {
  readonly rows: number
  readonly bytes: number
}

/** Reads every row with its large values: PostgreSQL verifies the checksum of each page. */
export async function checkRows(db: Database): Promise<string> {
  const tables = await db<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' order by tablename`
  const counts = new Map<string, number>()
  let bytes = 0
  for (const { name } of tables) {
    const count = await db.begin(async (tx) => {
      await tx`set local statement_timeout = 0`
      const [row] = await tx<TableCount[]>`
        select count(*) as rows, coalesce(sum(pg_column_size(each.*)), 0)::bigint as bytes
        from ${identifier(name)} as each`
      return row ?? { rows: 0, bytes: 0 }
    })
    counts.set(name, count.rows)
    bytes += count.bytes
  }
  const total = [...counts.values()].reduce((sum, rows) => sum + rows, 0)
  const of = (name: string) => counts.get(name) ?? 0
  return (
    `All ${total} rows of ${tables.length} tables were read (${bytes} bytes): ${of('organization')} organizations, ` +
    `${of('agent')} agents, ${of('package')} packages, ${of('audit_record')} audit records.`
  )
}
