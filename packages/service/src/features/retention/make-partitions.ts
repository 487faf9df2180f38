import type { Database, Queries, Transaction } from '../../db/database.ts'
import { DAY_SECONDS, secondsAfter } from '../../kernel/clock.ts'
import {
  CONTENTS,
  defaultOf,
  isPartition,
  listPartitions,
  nameOf,
  PARTITIONED_TABLES,
  spansBetween,
  type PartitionedTable,
  type Span,
} from './partitioned-tables.ts'
import { inRetention, limitLockWaits, unlessLocked } from './retention-step.ts'

/** Packages that expire later than this have no partition ahead of them. */
const MAXIMUM_DAYS_AHEAD = 400
/** Attaching a partition reads the default one under a lock. */
const MAXIMUM_DEFAULT_BYTES = 256 * 1_024 * 1_024
/** Rows that one transaction moves out of the default partition. */
const MAXIMUM_MOVED_ROWS = 50_000

/**
 * Makes partitions ahead of need. If it comes late, the default partition takes the rows, and they are moved. A span
 * with too many rows there stays without a partition: retention then deletes its rows one by one.
 *
 * @returns the names of the partitions that it made
 */
export async function makePartitions(db: Database, now: string): Promise<string[]> {
  const made: string[] = []
  for (const table of PARTITIONED_TABLES) {
    const existing = await listPartitions(db, table)
    const isFree = (span: Span) =>
      existing.every(({ from, until }) => span.until <= from || until <= span.from)
    const wanted = spansBetween(table, now, await lastNeeded(db, table, now))
    for (const span of wanted.filter(isFree)) {
      const isMade = await unlessLocked(() => inRetention(db, (tx) => makePartition(tx, table, span)))
      // The lock is taken: the next run continues.
      if (isMade === undefined) break
      if (isMade) made.push(nameOf(table, span))
    }
  }
  return made
}

/** Senders choose when packages expire. The latest expiry so far shows how far ahead they reach. */
async function lastNeeded(db: Queries, table: PartitionedTable, now: string): Promise<string> {
  const { daysAhead } = table
  if (table !== CONTENTS) return secondsAfter(now, daysAhead * DAY_SECONDS)
  const [row] = await db.byIndex<{ latest: string | null }[]>`
    select max(expires_at) as latest from package_content
    where expires_at < ${secondsAfter(now, MAXIMUM_DAYS_AHEAD * DAY_SECONDS)}`
  const latest = row?.latest ?? now
  return secondsAfter(latest > now ? latest : now, daysAhead * DAY_SECONDS)
}

/**
 * `attach partition`, unlike `create table … partition of`, does not block writers of the table. It locks the default
 * partition, which only writers of rows without a partition use.
 */
async function makePartition(tx: Transaction, table: PartitionedTable, span: Span): Promise<boolean> {
  const [name, rest] = [nameOf(table, span), defaultOf(table)]
  const [from, until] = [table.keyAt(span.from), table.keyAt(span.until)]
  // Another process may have made it since the partitions were listed.
  if (await isPartition(tx, table, name)) return false
  await limitLockWaits(tx)
  await tx.unsafe(`lock table ${rest} in access exclusive mode`)
  const inSpan = `${table.keyColumn} >= $1 and ${table.keyColumn} < $2`
  const [model] = await tx.unsafe<Model[]>(
    `select pg_relation_size(oid) as bytes, (
       select count(*) from (
         select from ${rest} where ${inSpan} limit ${MAXIMUM_MOVED_ROWS + 1}) as misplaced) as rows,
       array_to_string(reloptions, ', ') as options, (
         select string_agg(format('alter column %I set statistics %s', attname, attstattarget), ', ')
         from pg_attribute where attrelid = pg_class.oid and attnum > 0 and attstattarget >= 0) as statistics
     from pg_class where oid = '${rest}'::regclass`,
    [from, until],
  )
  if (!model) throw new Error(`the table ${rest} is missing`)
  if (model.bytes > MAXIMUM_DEFAULT_BYTES || model.rows > MAXIMUM_MOVED_ROWS) return false
  // LIKE copies neither storage parameters nor statistics targets.
  await tx.unsafe(`
    create table ${name} (like ${rest} including all) with (${model.options});
    alter table ${name} ${model.statistics}`)
  if (model.rows > 0)
    await tx.unsafe(
      `with moved as (delete from ${rest} where ${inSpan} returning *) insert into ${name} select * from moved`,
      [from, until],
    )
  const truncateTrigger = `
    create trigger package_content_keeps_all before truncate on ${name}
      for each statement execute function refuse_change();`
  await tx.unsafe(`
    ${table === CONTENTS ? truncateTrigger : ''}
    alter table ${table.name} attach partition ${name} for values from ('${from}') to ('${until}')`)
  return true
}

/** The default partition: its size, the rows of the span in it, and its settings. */
interface Model {
  readonly bytes: number
  readonly rows: number
  readonly options: string
  readonly statistics: string
}
