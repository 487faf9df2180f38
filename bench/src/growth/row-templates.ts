import type { PackageMetadata } from '@agent-exchange/protocol'
import type { Database } from '@agent-exchange/database'

/** A row of one real package, as JSON text. */
export interface RowTemplate {
  readonly table: string
  readonly text: string
}

/** Tables in the order of their foreign keys; other tables follow. */
const ORDER = ['policy_receipt', 'thread', 'package', 'package_content']
/** Content is replaced by a placeholder: only downloads read it, and a million packages would take 12 GB. */
const SMALL_CONTENT = `\\x${'ab'.repeat(200)}`

/** Every row of any table that refers to the package or its thread. */
export async function templatesOf(
  db: Database,
  { package_id, thread_id }: PackageMetadata,
): Promise<RowTemplate[]> {
  const tables = await db<{ name: string }[]>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace order by relname`
  const templates: RowTemplate[] = []
  for (const { name: table } of tables) {
    const rows = await db.unsafe<{ text: string }[]>(
      `select text from (select row_to_json(${table})::text as text from ${table}) as every
       where strpos(text, $1) > 0 or strpos(text, $2) > 0`,
      [package_id, thread_id],
    )
    templates.push(...rows.map(({ text }) => ({ table, text: withSmallContent(table, text) })))
  }
  const rank = ({ table }: RowTemplate) => (ORDER.indexOf(table) + ORDER.length + 1) % (ORDER.length + 1)
  return templates.toSorted((left, right) => rank(left) - rank(right))
}

function withSmallContent(table: string, text: string): string {
  if (table !== 'package_content') return text
  return JSON.stringify({ ...(JSON.parse(text) as object), payload: SMALL_CONTENT })
}

/** Rows of one organization in a table, as templates for other organizations. */
export async function organizationTemplates(
  db: Database,
  organizationId: string,
  agentId: string,
): Promise<RowTemplate[]> {
  const templates: RowTemplate[] = []
  for (const [table, column, id] of [
    ['organization', 'organization_id', organizationId],
    ['agent', 'agent_id', agentId],
    ['agent_key', 'agent_id', agentId],
  ] as const) {
    const rows = await db.unsafe<{ text: string }[]>(
      `select row_to_json(${table})::text as text from ${table} where ${column} = $1`,
      [id],
    )
    templates.push(...rows.map(({ text }) => ({ table, text })))
  }
  return templates
}
