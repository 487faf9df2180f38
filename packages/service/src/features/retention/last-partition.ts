import type { Transaction } from '@agent-exchange/database'
import { DAY_SECONDS, secondsAfter } from '@agent-exchange/server/clock'
import { attach, createTable, lockSmall } from './make-partition.ts'
import {
  CONTENTS,
  END_OF_TIME,
  isLast,
  isPartition,
  nameOf,
  spansBetween,
  type Partition,
  type Span,
} from './partitioned-tables.ts'

/** The bound moves by this much at once, because moving it locks the table. */
const STEP_DAYS = 30

/** From a bound that is not needed for a while, and beyond every other partition, to the end of time. */
export function spanOfLast(existing: readonly Partition[], needed: string): Span {
  const later = secondsAfter(needed, STEP_DAYS * DAY_SECONDS)
  const [day] = spansBetween(CONTENTS, later, later)
  const ends = existing.filter((each) => !isLast(each)).map(({ until }) => until)
  const from = [day?.until ?? later, ...ends].toSorted().at(-1) ?? later
  return { from, until: END_OF_TIME }
}

/**
 * Moves the bound of the last partition. Its rows before the new bound get partitions of their own. The table itself is
 * locked for changes of the catalog only: the check constraint proves the new bound before. The partition must be small,
 * because it is read under a lock; otherwise the bound stays, and retention deletes its rows one by one.
 */
export async function moveLastPartition(tx: Transaction, last: Partition, span: Span): Promise<boolean> {
  // Another process may have moved it since the partitions were listed.
  if (!(await isPartition(tx, CONTENTS, last.name))) return false
  const leaving = { from: last.from, until: span.from }
  if (!(await lockSmall(tx, CONTENTS, last.name, leaving))) return false
  const days = await moveToDays(tx, last, leaving)
  const name = nameOf(CONTENTS, span)
  await tx.unsafe(`
    alter table ${last.name} add constraint beyond_bound check (expires_at >= '${span.from}');
    alter table ${CONTENTS.name} detach partition ${last.name};
    alter table ${last.name} rename to ${name};
    alter index ${last.name}_pkey rename to ${name}_pkey`)
  await attach(tx, CONTENTS, name, span)
  await tx.unsafe(`alter table ${name} drop constraint beyond_bound`)
  for (const day of days) await attach(tx, CONTENTS, nameOf(CONTENTS, day), day)
  return true
}

async function moveToDays(tx: Transaction, last: Partition, leaving: Span): Promise<Span[]> {
  const found = await tx.unsafe<{ day: string; rows: number }[]>(
    `select date_trunc('day', expires_at, 'UTC') as day, count(*) as rows from ${last.name}
     where expires_at < $1 group by 1 order by 1`,
    [leaving.until],
  )
  const days = found.flatMap(({ day, rows }) =>
    spansBetween(CONTENTS, day, day).map((span) => ({ ...span, rows })),
  )
  for (const { rows, ...span } of days) await createTable(tx, CONTENTS, span, { from: last.name, rows })
  return days
}
