import { MAXIMUM_ROWS } from './desk-limits.ts'

/** Name of the button that adds a row; its value is the name of the list. */
export const ADD_ROW = 'add'

const countName = (list: string) => `${list}.rows`

/** How many rows of a list a form shows. */
export function rowCount(fields: URLSearchParams, list: string): number {
  const asked = Number(fields.get(countName(list)) ?? 1)
  return Number.isInteger(asked) ? Math.min(Math.max(asked, 1), MAXIMUM_ROWS) : 1
}

/** The fields after the button was pressed. */
export function withAddedRow(fields: URLSearchParams): URLSearchParams {
  const list = fields.get(ADD_ROW)
  const grown = new URLSearchParams(fields)
  if (list !== null) grown.set(countName(list), String(Math.min(rowCount(fields, list) + 1, MAXIMUM_ROWS)))
  return grown
}

export function rowCountField(list: string, rows: number) {
  return { kind: 'hidden', name: countName(list), value: String(rows) } as const
}
