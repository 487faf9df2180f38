import type { Database } from '@agent-exchange/database'
import type { ProtocolObject } from '@agent-exchange/protocol'
import type { Clock } from '@agent-exchange/server/clock'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { recordAccess } from './access-record.ts'
import { DELETED_A_STEP, MAXIMUM_RETENTION_DAYS, RETENTION_EVERY_SECONDS } from './content-limits.ts'
import { deleteDueContent } from './open-content-store.ts'

const DAY_MS = 86_400_000

/** When the retention that an object itself asks for ends. It counts from `from` (O-51). */
export function retentionEnd(object: ProtocolObject, from: Date): Date | undefined {
  const days = retentionDays(object)
  return days === undefined
    ? undefined
    : new Date(from.getTime() + Math.min(days, MAXIMUM_RETENTION_DAYS) * DAY_MS)
}

/** A sender may ask for any number of days. */
function retentionDays(object: ProtocolObject): number | undefined {
  if (object.object_type === 'reasoning_package') return object.boundaries.retention_days
  return object.object_type === 'policy_envelope' ? object.retention.duration_days : undefined
}

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
