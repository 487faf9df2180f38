import pg from 'pg'
import type { Row, Value } from './queries.ts'

/** Times as ISO 8601 text in UTC with milliseconds, 64-bit integers as numbers, dates as text; the rest as in pg. */
export const valueTypes = new pg.TypeOverrides()

const { builtins } = pg.types
const readTime = pg.types.getTypeParser(builtins.TIMESTAMPTZ) as (text: string) => Date
/** The form that PostgreSQL writes in a session whose time zone is UTC. Read without a Date, because it is frequent. */
const UTC_TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/u

valueTypes.setTypeParser(builtins.TIMESTAMPTZ, (text) => {
  const [, day, time, fraction = ''] = UTC_TIME.exec(text) ?? []
  if (day === undefined) return readTime(text).toISOString()
  return `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
})
valueTypes.setTypeParser(builtins.DATE, (text) => text)
valueTypes.setTypeParser(builtins.INT8, (text) => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError('an integer from the database is too large')
  return value
})

/** A parameter in the form in which pg sends it. pg's types do not name its function. */
export const { prepareValue: toParameter } = (
  pg as unknown as { readonly utils: { readonly prepareValue: (value: Value) => string | Buffer | null } }
).utils

/** Members of `pg.Result` that its types do not name. */
export interface RowReader {
  addFields(fields: readonly pg.FieldDef[]): void
  parseRow(values: readonly (string | null)[]): Row
}

export function createRowReader(): RowReader {
  return new pg.Result('object', valueTypes as never) as pg.Result & RowReader
}
