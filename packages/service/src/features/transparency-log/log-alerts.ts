import type { DeploymentProfile } from '@agent-exchange/protocol'
import { type Database, inTransaction } from '@agent-exchange/database'
import { secondsBetween, type Clock } from '@agent-exchange/server/clock'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { raiseAlerts } from '../alerts/alert-store.ts'
import type { AlertKind } from '../alerts/alert-queries.ts'
import { lockAlerted, saveAlerted } from './log-state-store.ts'
import { readLogStatus, type LogStatus } from './log-status.ts'
import { isStillDamaged } from './recheck-damage.ts'

const EVERY_SECONDS = 10

interface LogAlertSettings {
  readonly db: Database
  readonly profile: DeploymentProfile
  readonly clock: Clock
  /** Receives the status that was read, for metrics. */
  readonly onStatus?: (status: LogStatus) => void
}

export function logAlertTask(settings: LogAlertSettings): PeriodicTask {
  return { name: 'transparency log alerts', everySeconds: EVERY_SECONDS, run: () => alertAboutLog(settings) }
}

/**
 * Raises an alert for operators when the log falls behind, refuses to sign, is damaged or lacks a witness: once for each time that
 * this begins, although every process looks.
 */
export async function alertAboutLog({ db, profile, clock, onStatus }: LogAlertSettings): Promise<number> {
  const found = await readLogStatus(db, profile)
  const status =
    found.damage && !(await isStillDamaged(db, found.damage)) ? await readLogStatus(db, profile) : found
  onStatus?.(status)
  const causes = causesOf(status, profile)
  const kinds = [...causes.keys()]
  return inTransaction(db, async (tx) => {
    const alerted = await lockAlerted(tx)
    if (alerted.length === kinds.length && kinds.every((kind) => alerted.includes(kind))) return 0
    await saveAlerted(tx, kinds)
    const organizationId = profile['O-42'].organization_id
    const begun = [...causes].filter(([kind]) => !alerted.includes(kind))
    await raiseAlerts(
      tx,
      begun.map(([kind, reason]) => ({ organizationId, kind, reason, now: clock.now() })),
    )
    return begun.length
  })
}

function causesOf(status: LogStatus, profile: DeploymentProfile): Map<AlertKind, string> {
  const causes = new Map<AlertKind, string>()
  const maximum = profile['O-07'].transparency_maximum_delay_seconds
  if (status.refusal) causes.set('log_refusing', `${status.refusal.reason}: ${status.what_to_do}`)
  else if (status.oldest_pending_seconds > maximum)
    causes.set(
      'log_behind',
      `Records wait for ${status.oldest_pending_seconds} seconds. ${status.what_to_do}`,
    )
  if (status.damage) causes.set('log_damaged', status.what_to_do ?? '')
  const missing = status.witnesses.filter(
    ({ outcome, cosigned_at, tried_at }) =>
      outcome !== 'cosigned' && (cosigned_at === null || secondsBetween(cosigned_at, tried_at) > maximum),
  )
  if (missing.length > 0)
    causes.set('log_unwitnessed', `No cosignature of ${missing.map(({ name }) => name).join(', ')}.`)
  return causes
}
