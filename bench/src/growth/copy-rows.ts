import type { Database } from '@agent-exchange/database'
import type { RowTemplate } from './row-templates.ts'

/** A text of the template, and the SQL that replaces it in copy `n`. */
export type Replacement = readonly [text: string, sql: string]

const RANDOM_ID = /\b([a-z]+)_[0-9a-f]{32}\b/g
const HASH = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g

export interface Copies {
  /** Copies of another kind get other names. */
  readonly kind: string
  readonly from: number
  readonly to: number
  readonly replace: (template: RowTemplate) => readonly Replacement[]
}

/** Copies rows for every `n` of a range, in one transaction; each random id and each hash becomes another one. */
export async function copyRows(
  db: Database,
  templates: readonly RowTemplate[],
  { kind, from, to, replace }: Copies,
): Promise<void> {
  const statements = templates.map((template) => {
    const given = replace(template)
    const replacements = [...given, ...freshNames(templates, given, kind)]
    return { table: template.table, row: replaced(template.text, replacements) }
  })
  await db.begin(async (tx) => {
    // Loaded data need not survive a crash; measured requests use the default.
    await tx.unsafe('set local synchronous_commit = off; set local statement_timeout = 0')
    for (const { table, row } of statements) {
      const columns = await writableColumns(tx, table)
      await tx.unsafe(
        `insert into ${table} (${columns}) select ${columns}
         from generate_series(${from}, ${to}) as n, json_populate_record(null::${table}, (${row})::json)`,
      )
    }
  })
}

/** The id that a random id of the template becomes in copy `n`: found again by `nameIn`. */
export const nameSql = (prefix: string, what: string) => `'${prefix}_' || md5('${what} ' || n)`

/** Considers all templates, so that a name in several rows stays the same name. */
function freshNames(
  templates: readonly RowTemplate[],
  taken: readonly Replacement[],
  kind: string,
): Replacement[] {
  const text = templates.map((template) => template.text).join('\n')
  const isTaken = (token: string) => taken.some(([former]) => former === token)
  const ids = [...new Set(text.match(RANDOM_ID))].filter((id) => !isTaken(id))
  const hashes = [...new Set(text.match(HASH))].filter((hash) => !isTaken(hash))
  return [
    ...ids.map((id, i): Replacement => [id, nameSql(id.slice(0, id.indexOf('_')), `${kind}${i}`)]),
    ...hashes.map((hash, i): Replacement => [
      hash,
      `md5('${kind} a${i} ' || n) || md5('${kind} b${i} ' || n)`,
    ]),
  ]
}

function replaced(text: string, replacements: readonly Replacement[]): string {
  return replacements
    .filter(([former]) => text.includes(former))
    .reduce((sql, [former, next]) => `replace(${sql}, ${literal(former)}, ${next})`, literal(text))
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

const known = new Map<string, string>()

async function writableColumns(db: Pick<Database, 'unsafe'>, table: string): Promise<string> {
  const columns =
    known.get(table) ??
    (
      await db.unsafe<{ name: string }[]>(
        `select column_name as name from information_schema.columns
         where table_schema = 'public' and table_name = $1 and is_identity = 'NO' and is_generated = 'NEVER'
         order by ordinal_position`,
        [table],
      )
    )
      .map(({ name }) => name)
      .join(', ')
  known.set(table, columns)
  return columns
}
