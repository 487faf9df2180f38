import type { Database, Queries } from '@agent-exchange/database'
import { DAY_SECONDS, secondsAfter } from '@agent-exchange/server/clock'
import { moveLastPartition, spanOfLast } from './last-partition.ts'
import { makePartition } from './make-partition.ts'
import {
  CONTENTS,
  isLast,
  listPartitions,
  nameOf,
  PARTITIONED_TABLES,
  spansBetween,
  type PartitionedTable,
  type Span,
} from './partitioned-tables.ts'
import { inRetention, unlessLocked } from './retention-step.ts'

/** Packages that expire later than this share the last partition. */
const MAXIMUM_DAYS_AHEAD = 400

/**
 * Makes partitions ahead of need. If it comes late, the default partition takes the rows, and they are moved. A span
 * with too many rows there stays without a partition: retention then deletes its rows one by one.
 *
 * @returns the names of the partitions that it made
 */
export async function makePartitions(db: Database, now: string): Promise<string[]> {
  // First: rows that expire late keep the default partition from being divided.
  const made: string[] = await makeLast(db, now)
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

/** The last partition begins after all days that may get a partition of their own. */
async function makeLast(db: Database, now: string): Promise<string[]> {
  const existing = await listPartitions(db, CONTENTS)
  const needed = secondsAfter(now, (MAXIMUM_DAYS_AHEAD + CONTENTS.daysAhead + 1) * DAY_SECONDS)
  const last = existing.find(isLast)
  if (last && last.from >= needed) return []
  const span = spanOfLast(existing, needed)
  const isMade = await unlessLocked(() =>
    inRetention(db, (tx) => (last ? moveLastPartition(tx, last, span) : makePartition(tx, CONTENTS, span))),
  )
  return isMade ? [nameOf(CONTENTS, span)] : []
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
