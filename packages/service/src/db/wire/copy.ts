import type { MessageWriter } from './message-writer.ts'

/** How the values of a column are written in the binary form of a copy. */
type ColumnType<T> = (out: MessageWriter, value: T) => void

const BIGINT_BYTES = 8
const INTEGER_BYTES = 4
const MILLENNIUM = Date.UTC(2000)
const MICROSECONDS = 1_000n

/** By the types of the table: a copy converts nothing. */
export const column = {
  text(out, value: string | null) {
    if (value === null) out.none()
    else out.text(value)
  },
  bytea: (out, value: Uint8Array) => out.bytes(value),
  integer: (out, value: number) => out.int32(INTEGER_BYTES).int32(value),
  bigint: (out, value: number) => out.int32(BIGINT_BYTES).int64(BigInt(value)),
  /** Microseconds since the year 2000. */
  timestamptz: (out, value: string) =>
    out.int32(BIGINT_BYTES).int64(BigInt(Date.parse(value) - MILLENNIUM) * MICROSECONDS),
  textArray: writeTexts,
} satisfies Record<string, ColumnType<never>>

const TEXT_TYPE = 25
const NO_NULLS = 0
const NO_DIMENSION = 0
const ONE_DIMENSION = 1
const FIRST_INDEX = 1

function writeTexts(out: MessageWriter, values: readonly string[]): void {
  const start = out.beginLength()
  if (values.length === 0) out.int32(NO_DIMENSION).int32(NO_NULLS).int32(TEXT_TYPE)
  else {
    out.int32(ONE_DIMENSION).int32(NO_NULLS).int32(TEXT_TYPE).int32(values.length).int32(FIRST_INDEX)
    for (const value of values) out.text(value)
  }
  out.endLength(start)
}

/** A table, and how rows are copied into it. */
export interface CopyTarget<Row> {
  readonly text: string
  readonly write: (out: MessageWriter, row: Row) => void
}

export function copyTarget<Row extends object>(
  table: string,
  columns: { readonly [Name in keyof Row]-?: ColumnType<Row[Name]> },
): CopyTarget<Row> {
  const names = Object.keys(columns) as (keyof Row & string)[]
  const each = names.map((name) => ({ name, write: columns[name] }))
  return {
    text: `copy ${table} (${names.join(', ')}) from stdin (format binary)`,
    write(out, row) {
      out.int16(each.length)
      for (const { name, write } of each) write(out, row[name])
    },
  }
}

/** Signature, no flags, no extension. */
const HEADER = Buffer.from('PGCOPY\n\u00FF\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const NO_MORE_ROWS = -1
/** The server reads each message whole: many rows do not make one large one. */
const MESSAGE_BYTES = 65_536

/** All rows, right behind the statement: nobody waits for the server to say that it is ready for them. */
export function writeRows<Row>(out: MessageWriter, { write }: CopyTarget<Row>, rows: readonly Row[]): void {
  out.begin('d').raw(HEADER)
  for (const row of rows) {
    if (out.messageBytes > MESSAGE_BYTES) out.finish().begin('d')
    write(out, row)
  }
  out.int16(NO_MORE_ROWS).finish()
  out.bare('c')
}
