type Value = string | number | null

/** The rows of a statement, a text for each column; see {@link columnsOf}. */
export interface Columns<Row> {
  (name: keyof Row): string
  /** What stands between two values of a column, and in none of them. */
  readonly separator: string
}

const UNIT_SEPARATOR = '\u001f'

/**
 * Rows for a statement that inserts or changes many. Each column goes as one text, which the server splits:
 *
 *     from (select ${column.separator}::text as mark) as sent,
 *       unnest(string_to_array(${column('a')}, mark), string_to_array(${column('b')}, mark)) as row (a, b)
 *
 * Arrays and JSON are written and read value by value, which costs both sides several times as much (0013). Null is
 * written as an empty text, and arrives as that or, where it is the only row, as null: nullif(a, '').
 */
export function columnsOf<Row extends object>(rows: readonly Row[]): Columns<Row> {
  const separator = separatorFor(rows)
  const column = (name: keyof Row) => rows.map((row) => written(row[name] as Value)).join(separator)
  return Object.assign(column, { separator })
}

function written(value: Value): string {
  if (value === '') throw new Error('an empty text cannot be told from none')
  return value === null ? '' : String(value)
}

/** Almost always the character that was made for this. A text that holds it brings another one into use. */
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
