import { setTimeout as sleep } from 'node:timers/promises'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Database, Transaction } from '@agent-exchange/database'
import { DAY_SECONDS, secondsAfter } from '@agent-exchange/server/clock'
import {
  ATTEMPTS,
  CONTENTS,
  isPartition,
  listPartitions,
  type Partition,
  type PartitionedTable,
} from './partitioned-tables.ts'
import { copyRows } from './partition-rows.ts'
import { inRetention, limitLockWaits, unlessLocked } from './retention-step.ts'
import { insertRetired } from './retired-partition-store.ts'

const MAXIMUM_TRIES = 5
const PAUSE_BETWEEN_TRIES_MS = 1_000
/** Deliveries that may outlive the attempts of their week. With more of them, the partition waits for the next run. */
const MAXIMUM_OUTLIVING = 1_000

/**
 * O-18: detaches the partitions whose rows may all go. From then on nobody can read them; `dropRetired` drops them. Only
 * detaching blocks others, for an instant: it waits 200 ms for its lock, and pauses before it tries again.
 */
export async function retirePartitions(
  db: Database,
  profile: DeploymentProfile,
  now: string,
  signal?: AbortSignal,
): Promise<number> {
  const { content_days_after_expiry, delivery_days } = profile['O-18']
  let retired = 0
  for (const [table, days] of [
    [CONTENTS, content_days_after_expiry],
    [ATTEMPTS, delivery_days],
  ] as const) {
    const before = secondsAfter(now, -days * DAY_SECONDS)
    const due = (await listPartitions(db, table)).filter(({ until }) => until <= before)
    for (const partition of due) {
      const isRetired = await tryRepeatedly(
        () => inRetention(db, (tx) => retire(tx, table, partition, now)),
        signal,
      )
      // Another process runs retention, or the table stays locked.
      if (isRetired === undefined) return retired
      if (isRetired) retired += 1
    }
  }
  return retired
}

/** Undefined if the lock was never free. */
async function tryRepeatedly<T>(
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T | undefined> {
  for (let tries = 1; tries <= MAXIMUM_TRIES && !signal?.aborted; tries++) {
    const done = await unlessLocked(async () => ({ result: await work() }))
    if (done) return done.result
    if (tries < MAXIMUM_TRIES) await sleep(PAUSE_BETWEEN_TRIES_MS)
  }
  return undefined
}

async function retire(
  tx: Transaction,
  table: PartitionedTable,
  { name, from, until }: Partition,
  now: string,
): Promise<boolean> {
  // Another process may have detached it since the partitions were listed.
  if (!(await isPartition(tx, table, name))) return false
  const outliving = table === ATTEMPTS ? await deliveriesIn(tx, from, until) : []
  if (outliving.length > MAXIMUM_OUTLIVING) return false
  await limitLockWaits(tx)
  await tx.unsafe(`alter table ${table.name} detach partition ${name}`)
  // Their span has no partition any more, so they go to the default one.
  if (outliving.length > 0)
    await copyRows(tx, { from: name, to: table.name, where: 'delivery_id = any($1)', values: [outliving] })
  await insertRetired(tx, { name, parent: table.name, now })
  return true
}

/** Deliveries that still wait, finished late, or were replayed. */
async function deliveriesIn(tx: Transaction, from: string, until: string): Promise<string[]> {
  const rows = await tx<{ delivery_id: string }[]>`
    select delivery_id from delivery
    where delivery_id >= ${ATTEMPTS.keyAt(from)} and delivery_id < ${ATTEMPTS.keyAt(until)}
    limit ${MAXIMUM_OUTLIVING + 1}`
  return rows.map(({ delivery_id }) => delivery_id)
}
