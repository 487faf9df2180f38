import { Writer } from 'pg-protocol/dist/buffer-writer.js'
import type { Statement } from './queries.ts'

/** Writes a value of a column in the binary format of COPY. */
type ColumnType<T> = (out: Writer, value: T) => void

const NULL = -1
const INTEGER_BYTES = 4
const BIGINT_BYTES = 8
const EPOCH = Date.UTC(2000)
const TEXT_OID = 25
const TEXT_ARRAY_HEADER_BYTES = 20

/** By the types of the table: COPY converts nothing. */
export const column = {
  text(out, value: string | null) {
    if (value === null) out.addInt32(NULL)
    else out.addInt32PrefixedString(value)
  },
  bytea(out, value: Uint8Array | null) {
    if (value === null) out.addInt32(NULL)
    else out.addInt32(value.length).add(Buffer.from(value.buffer, value.byteOffset, value.length))
  },
  integer(out, value: number) {
    if ((value | 0) !== value) throw new RangeError('a number is not a 32-bit integer')
    out.addInt32(INTEGER_BYTES).addInt32(value)
  },
  bigint(out, value: number | null) {
    if (value === null) out.addInt32(NULL)
    else addInt64(out, BigInt(value))
  },
  /** Microseconds since the year 2000. */
  timestamptz: (out, value: string) => addInt64(out, BigInt(Date.parse(value) - EPOCH) * 1_000n),
  textArray(out, values: readonly string[]) {
    const bytes = values.map((value) => INTEGER_BYTES + Buffer.byteLength(value))
    out.addInt32(bytes.reduce((sum, each) => sum + each, TEXT_ARRAY_HEADER_BYTES))
    // One dimension, no nulls, the type of the elements, their number, the first index.
    out.addInt32(1).addInt32(0).addInt32(TEXT_OID).addInt32(values.length).addInt32(1)
    for (const value of values) out.addInt32PrefixedString(value)
  },
} satisfies Record<string, ColumnType<never>>

function addInt64(out: Writer, value: bigint): void {
  out
    .addInt32(BIGINT_BYTES)
    .addInt32(Number(value >> 32n))
    .addInt32(Number(BigInt.asIntN(32, value)))
}

/** A table, and how rows are copied into it. */
export interface CopyTarget<Row> {
  readonly text: string
  readonly write: (out: Writer, row: Row) => void
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
      out.addInt16(each.length)
      for (const { name, write } of each) write(out, row[name])
    },
  }
}

/** Signature, no flags, no extension. */
const HEADER = Buffer.from('PGCOPY\n\u00FF\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const NO_MORE_ROWS = -1
const COPY_DATA = 'd'.charCodeAt(0)

/** All rows are written before anything is sent: a row that cannot be written fails the statement here. */
export function copyStatement<Row>({ text, write }: CopyTarget<Row>, rows: readonly Row[]): Statement {
  const out = new Writer().add(HEADER)
  const copyData = rows.map((row) => {
    write(out, row)
    return out.flush(COPY_DATA)
  })
  return { text, values: [], copyData: [...copyData, out.addInt16(NO_MORE_ROWS).flush(COPY_DATA)] }
}
