import type { Database } from '@agent-exchange/database'
import type { ProtocolObject } from '@agent-exchange/protocol'
import type { Clock } from '@agent-exchange/server/clock'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { recordAccess } from './access-record.ts'
import { DELETED_A_STEP, MAXIMUM_RETENTION_DAYS, RETENTION_EVERY_SECONDS } from './content-limits.ts'
import { deleteDueContent } from './open-content-store.ts'

const DAY_MS = 86_400_000

export interface RetentionAsked {
  /** O-51: since when the retention counts. */
  readonly from: Date
  /** What the sender's policy allows. */
  readonly policyDays?: number | undefined
}

/** When the retention ends: what the package asks for or what its policy allows, whichever is shorter. */
export function retentionEnd(object: ProtocolObject, { from, policyDays }: RetentionAsked): Date | undefined {
  const asked = object.object_type === 'reasoning_package' ? object.boundaries.retention_days : undefined
  const days = Math.min(asked ?? Infinity, policyDays ?? Infinity)
  return days === Infinity ? undefined : daysAfter(from, days)
}

/** A sender may ask for any number of days. */
const daysAfter = (from: Date, days: number) =>
  new Date(from.getTime() + Math.min(days, MAXIMUM_RETENTION_DAYS) * DAY_MS)

/** Deletes content on time. Any instance may run it: each content is deleted once. */
export function retentionTask(db: Database, clock: Pick<Clock, 'now'>): PeriodicTask {
  return {
    name: 'content retention',
    everySeconds: RETENTION_EVERY_SECONDS,
    atStart: true,
    run: (signal) => deleteDue(db, clock, signal),
  }
}

export async function deleteDue(
  db: Database,
  clock: Pick<Clock, 'now'>,
  signal?: AbortSignal,
): Promise<number> {
  let deleted = 0
  for (let step = DELETED_A_STEP; step === DELETED_A_STEP && signal?.aborted !== true; deleted += step)
    step = await db.begin(async (tx) => {
      const at = clock.now()
      const due = await deleteDueContent(tx, at, DELETED_A_STEP)
      for (const each of due)
        await recordAccess(tx, {
          ...each,
          at,
          action: 'deleted',
          actor: { kind: 'gateway', id: 'retention' },
          purpose: 'the retention that the sender asked for has ended',
        })
      return due.length
    })
  return deleted
}
