import { type Fragment, identifier, type Queries } from '@agent-exchange/database'
import { DAY_SECONDS } from '@agent-exchange/server/clock'
import { startOfIds } from '../../kernel/ids.ts'

/** A table with one partition for each span of days, and a default partition for all other rows. */
export interface PartitionedTable {
  readonly name: 'package_content' | 'delivery_attempt'
  readonly keyColumn: string
  /** The lowest key of a time. */
  readonly keyAt: (time: string) => string
  /** Length of a span. Retention removes rows up to this many days late. */
  readonly days: number
  /** There are partitions for this many days ahead. */
  readonly daysAhead: number
}

export const CONTENTS: PartitionedTable = {
  name: 'package_content',
  keyColumn: 'expires_at',
  keyAt: (time) => time,
  days: 1,
  daysAhead: 7,
}

export const ATTEMPTS: PartitionedTable = {
  name: 'delivery_attempt',
  keyColumn: 'delivery_id',
  // Before 1970 is the start of the partition that a migration made of the whole table.
  keyAt: (time) => (time < '1970' ? '' : startOfIds('dlv', time)),
  days: 7,
  daysAhead: 14,
}

export const PARTITIONED_TABLES = [CONTENTS, ATTEMPTS]

/** The time between two midnights (UTC). */
export interface Span {
  readonly from: string
  readonly until: string
}

/** The end of the last partition of contents. Its real bound is `maxvalue`: the protocol has no latest expiry. */
export const END_OF_TIME = '9999-12-31T00:00:00.000Z'

export const isLast = ({ until }: Span) => until === END_OF_TIME

/** The bounds of its partition, as SQL. */
export const boundsOf = ({ keyAt }: PartitionedTable, span: Span) => ({
  from: `'${keyAt(span.from)}'`,
  until: isLast(span) ? 'maxvalue' : `'${keyAt(span.until)}'`,
})

/** Its name contains its span, as in package_content_20261117_20261118. */
export interface Partition extends Span {
  readonly name: string
}

/** The default partition, named after its table. */
export const defaultOf = ({ name }: PartitionedTable) => `${name}_default`

export const nameOf = ({ name }: PartitionedTable, { from, until }: Span) =>
  `${name}_${digitsOf(from)}_${digitsOf(until)}`

/** The name of a partition in a statement. Its table is named too, so that each write shows what it writes. */
export function partitionOf(table: PartitionedTable['name'], partition: string): Fragment {
  if (!partition.startsWith(`${table}_`)) throw new Error(`${partition} is not a partition of ${table}`)
  return identifier(partition)
}

/** All partitions but the default one, the oldest first. */
export async function listPartitions(db: Queries, table: PartitionedTable): Promise<Partition[]> {
  const rows = await db<{ name: string }[]>`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = ${table.name}::text::regclass order by relname collate "C"`
  return rows.flatMap(({ name }) => {
    const [, from, until] = NAME.exec(name.slice(table.name.length)) ?? []
    return from && until ? [{ name, from: midnightOf(from), until: midnightOf(until) }] : []
  })
}

export async function isPartition(
  db: Queries,
  { name: parent }: PartitionedTable,
  name: string,
): Promise<boolean> {
  const rows = await db`
    select from pg_inherits where inhparent = ${parent}::text::regclass and inhrelid = to_regclass(${name})`
  return rows.length > 0
}

/** The partitions whose rows are deleted one by one: the default one, and those that span more than others do. */
export async function loosePartitions(db: Queries, table: PartitionedTable): Promise<string[]> {
  const wide = (await listPartitions(db, table)).filter((partition) => daysIn(partition) > table.days)
  return [defaultOf(table), ...wide.map(({ name }) => name)]
}

/** The spans that follow one another from the one that contains `from` to the one that contains `until`. */
export function spansBetween({ days }: PartitionedTable, from: string, until: string): Span[] {
  const length = days * DAY_MS
  const first = Math.floor(Date.parse(from) / length)
  const last = Math.floor(Date.parse(until) / length)
  return Array.from({ length: last - first + 1 }, (_, index) => ({
    from: new Date((first + index) * length).toISOString(),
    until: new Date((first + index + 1) * length).toISOString(),
  }))
}

const DAY_MS = DAY_SECONDS * 1_000
const NAME = /^_(\d{8})_(\d{8})$/u

const daysIn = ({ from, until }: Span) => (Date.parse(until) - Date.parse(from)) / DAY_MS
const digitsOf = (midnight: string) => midnight.slice(0, 10).replaceAll('-', '')
const midnightOf = (digits: string) =>
  `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}T00:00:00.000Z`
