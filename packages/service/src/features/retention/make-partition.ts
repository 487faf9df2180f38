import type { Transaction } from '@agent-exchange/database'
import { moveRows } from './partition-rows.ts'
import {
  boundsOf,
  CONTENTS,
  defaultOf,
  isLast,
  isPartition,
  nameOf,
  type PartitionedTable,
  type Span,
} from './partitioned-tables.ts'
import { limitLockWaits } from './retention-step.ts'

/** Attaching a partition reads the default one under a lock. */
const MAXIMUM_READ_BYTES = 256 * 1_024 * 1_024
/** Rows that one transaction moves out of a partition. */
const MAXIMUM_MOVED_ROWS = 50_000

/**
 * `attach partition`, unlike `create table … partition of`, does not block writers of the table. It locks the default
 * partition, which only writers of rows without a partition use.
 */
export async function makePartition(tx: Transaction, table: PartitionedTable, span: Span): Promise<boolean> {
  const [name, rest] = [nameOf(table, span), defaultOf(table)]
  // Another process may have made it since the partitions were listed.
  if (await isPartition(tx, table, name)) return false
  const locked = await lockSmall(tx, table, rest, span)
  if (!locked) return false
  await createTable(tx, table, span, { from: rest, rows: locked.rows })
  await attach(tx, table, name, span)
  return true
}

/** Undefined if the partition is too large, or has too many rows of the span: it would stay locked for too long. */
export async function lockSmall(
  tx: Transaction,
  table: PartitionedTable,
  partition: string,
  span: Span,
): Promise<{ readonly rows: number } | undefined> {
  if (!isSmall(await measure(tx, table, partition, span))) return undefined
  await limitLockWaits(tx)
  await tx.unsafe(`lock table ${partition} in access exclusive mode`)
  const measured = await measure(tx, table, partition, span)
  return isSmall(measured) ? measured : undefined
}

interface Measured {
  readonly bytes: number
  readonly rows: number
}

const isSmall = ({ bytes, rows }: Measured) => bytes <= MAXIMUM_READ_BYTES && rows <= MAXIMUM_MOVED_ROWS

/** Bytes of the partition without its TOAST table, and the rows of the span in it, counted up to the limit. */
async function measure(
  tx: Transaction,
  table: PartitionedTable,
  partition: string,
  span: Span,
): Promise<Measured> {
  const { text, values } = inSpan(table, span)
  const [found] = await tx.unsafe<Measured[]>(
    `select pg_relation_size('${partition}') as bytes, (
       select count(*) from (
         select from ${partition} where ${text} limit ${MAXIMUM_MOVED_ROWS + 1}) as misplaced) as rows`,
    values,
  )
  if (!found) throw new Error(`the table ${partition} is missing`)
  return found
}

/** The table of a partition, with the rows of its span moved to it. LIKE copies neither storage parameters nor statistics targets. */
export async function createTable(
  tx: Transaction,
  table: PartitionedTable,
  span: Span,
  { from, rows }: { readonly from: string; readonly rows: number },
): Promise<void> {
  const [name, model] = [nameOf(table, span), defaultOf(table)]
  const [settings] = await tx.unsafe<{ options: string; statistics: string }[]>(
    `select array_to_string(reloptions, ', ') as options, (
       select string_agg(format('alter column %I set statistics %s', attname, attstattarget), ', ')
       from pg_attribute where attrelid = pg_class.oid and attnum > 0 and attstattarget >= 0) as statistics
     from pg_class where oid = '${model}'::regclass`,
  )
  if (!settings) throw new Error(`the table ${model} is missing`)
  await tx.unsafe(`
    create table ${name} (like ${model} including all) with (${settings.options});
    alter table ${name} ${settings.statistics}`)
  const { text, values } = inSpan(table, span)
  if (rows > 0) await moveRows(tx, { from, to: name, where: text, values })
  if (table === CONTENTS)
    await tx.unsafe(`
      create trigger package_content_keeps_all before truncate on ${name}
        for each statement execute function refuse_change()`)
}

export async function attach(
  tx: Transaction,
  table: PartitionedTable,
  name: string,
  span: Span,
): Promise<void> {
  const { from, until } = boundsOf(table, span)
  await tx.unsafe(
    `alter table ${table.name} attach partition ${name} for values from (${from}) to (${until})`,
  )
}

function inSpan(table: PartitionedTable, span: Span): { readonly text: string; readonly values: string[] } {
  const [from, until] = [table.keyAt(span.from), table.keyAt(span.until)]
  return isLast(span)
    ? { text: `${table.keyColumn} >= $1`, values: [from] }
    : { text: `${table.keyColumn} >= $1 and ${table.keyColumn} < $2`, values: [from, until] }
}
