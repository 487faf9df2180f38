import type { Database } from '@agent-exchange/database'
import type { DeploymentProfile, ProtocolObject } from '@agent-exchange/protocol'
import type { Clock } from '@agent-exchange/server/clock'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { recordAccess } from './access-record.ts'
import { DELETED_A_STEP, RETENTION_EVERY_SECONDS } from './content-limits.ts'
import { deleteDueContent } from './open-content-store.ts'

const DAY_MS = 86_400_000

type RetentionBegins = DeploymentProfile['O-51']['retention_begins']

/** O-51: when the retention that the sender asked for ends. */
export function retentionEnd(
  object: ProtocolObject,
  times: Readonly<Record<RetentionBegins, Date>>,
  begins: RetentionBegins,
): Date | undefined {
  if (object.object_type !== 'reasoning_package') return undefined
  return new Date(times[begins].getTime() + object.boundaries.retention_days * DAY_MS)
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
