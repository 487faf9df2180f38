type Value = string | number | null

/** The rows of a statement as one text per column; see {@link columnsOf}. */
export interface Columns<Row> {
  (name: keyof Row): string
  /** Separates the values of a column, and occurs in none of them. */
  readonly separator: string
}

const UNIT_SEPARATOR = '\u001f'

/**
 * Rows for a statement that inserts or updates many. Each column is sent as one text, which the server splits:
 *
 *     from (select ${column.separator}::text as mark) as sent,
 *       unnest(string_to_array(${column('a')}, mark), string_to_array(${column('b')}, mark)) as row (a, b)
 *
 * For the statements of the write path: arrays and JSON are encoded and parsed value by value, which costs both sides
 * several times as much (0013). Null is sent as an empty text; read it with nullif(a, ''). Other statements send rows as
 * `json_to_recordset`, and rows that nothing can conflict with go by COPY.
 */
export function columnsOf<Row extends object>(rows: readonly Row[]): Columns<Row> {
  const separator = separatorFor(rows)
  const column = (name: keyof Row) => rows.map((row) => written(row[name] as Value)).join(separator)
  return Object.assign(column, { separator })
}

function written(value: Value): string {
  if (value === '') throw new Error('an empty text cannot be distinguished from null')
  return value === null ? '' : String(value)
}

/** The control character for this purpose, or a random text if a value contains it. */
function separatorFor(rows: readonly object[]): string {
  let separator = UNIT_SEPARATOR
  while (rows.some((row) => holds(row, separator))) {
    separator = `${UNIT_SEPARATOR}${crypto.randomUUID()}${UNIT_SEPARATOR}`
  }
  return separator
}

function holds(row: object, text: string): boolean {
  for (const value of Object.values(row) as Value[]) {
    if (typeof value === 'string' && value.includes(text)) return true
  }
  return false
}
