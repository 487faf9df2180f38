import { fragment, identifier, type Fragment, type Queries, type Transaction } from '@agent-exchange/database'
import type { SecretBox } from './secret-box.ts'

/** Where a step of a rewrap ended. */
export interface RewrapStep {
  readonly rewrapped: number
  /** Key of the last row; undefined after the last step. */
  readonly last: readonly string[] | undefined
}

/** Secrets of one table that the master key wraps. */
export interface WrappedRows {
  readonly what: string
  /** Rows that none of these keys wraps, and the fingerprint of one that does. */
  left(db: Queries, marks: readonly Uint8Array[]): Promise<{ count: number; keyId: string | undefined }>
  /** Rewraps the next rows after a key, in its order. */
  rewrap(
    tx: Transaction,
    box: SecretBox,
    page: { readonly after: readonly string[] | undefined; readonly limit: number },
  ): Promise<RewrapStep>
}

/** A column that the master key wraps. */
interface WrappedColumn<Member extends string> {
  /** For people. */
  readonly what: string
  readonly column: string
  /** Columns that identify a row. */
  readonly key: readonly Member[]
  /** Further columns that the context is made of. */
  readonly beside?: readonly Member[]
  /** What the value is bound to: it cannot be unwrapped for anything else. */
  readonly contextOf: (row: Readonly<Record<Member, string>>) => string | Promise<string>
  /** Trigger that refuses changes of the table. It is off for the transaction that rewraps, and for no other. */
  readonly guard?: string
}

const listOf = (parts: readonly Fragment[]): Fragment =>
  parts.reduce((all, part) => fragment`${all}, ${part}`)

const columnsOf = (names: readonly string[]) => listOf(names.map(identifier))

const valuesOf = (values: readonly string[]) => listOf(values.map((value) => fragment`${value}`))

/** The owner file of a table calls it for each column that the master key wraps. */
export function wrappedColumn<Member extends string>(
  tableName: string,
  { what, key, beside = [], contextOf, guard, ...given }: WrappedColumn<Member>,
): WrappedRows {
  const table = identifier(tableName)
  const column = identifier(given.column)
  const keyColumns = columnsOf(key)
  /** The first byte is the version of the format, the next eight are the fingerprint of the key. */
  const isUnderNone = (marks: readonly Uint8Array[]) => {
    const known = marks.map((mark) => Buffer.from(mark).toString('hex'))
    return fragment`${column} is not null and encode(substring(${column} from 1 for 9), 'hex') <> all(${known}::text[])`
  }

  return {
    what,
    async left(db, marks) {
      const [row] = await db<{ count: number; key_id: string | null }[]>`
        select count(*)::integer as count, min(encode(substring(${column} from 2 for 8), 'hex')) as key_id
        from ${table} where ${isUnderNone(marks)}`
      return { count: row?.count ?? 0, keyId: row?.key_id ?? undefined }
    },
    async rewrap(tx, box, { after = key.map(() => ''), limit }) {
      const rows = await tx<(Record<Member, string> & { readonly wrapped: Uint8Array })[]>`
        select ${columnsOf([...key, ...beside])}, ${column} as wrapped from ${table}
        where ${isUnderNone([box.currentMark()])} and (${keyColumns}) > (${valuesOf(after)})
        order by ${keyColumns} limit ${limit} for update`
      const last = rows.at(-1)
      if (!last) return { rewrapped: 0, last: undefined }
      const keyOf = (row: Record<Member, string>) => key.map((member) => row[member])
      if (guard !== undefined) await tx`alter table ${table} disable trigger ${identifier(guard)}`
      for (const row of rows)
        await tx`
          update ${table} set ${column} = ${box.rewrap(await contextOf(row), row.wrapped)}
          where (${keyColumns}) = (${valuesOf(keyOf(row))})`
      if (guard !== undefined) await tx`alter table ${table} enable trigger ${identifier(guard)}`
      return { rewrapped: rows.length, last: keyOf(last) }
    },
  }
}
