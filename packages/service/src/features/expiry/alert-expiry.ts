import type { DeploymentProfile } from '@agent-exchange/protocol'
import { type Database, inTransaction } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { lockNames } from '../../kernel/named-locks.ts'
import { raiseAlerts } from '../alerts/alert-store.ts'
import { fillCertificateExpiry } from '../organizations/client-certificates.ts'
import { listNotices, removeOtherNotices, saveNotice } from './expiry-store.ts'
import { findExpiring, type Expiring } from './find-expiring.ts'

const EVERY_SECONDS = 60
const LOCK = 'expiry notices'
/** More than what `findExpiring` finds. */
const MAXIMUM_NOTICES = 2_000

interface ExpiryAlertSettings {
  readonly db: Database
  readonly profile: DeploymentProfile
  readonly clock: Clock
}

export function expiryAlertTask(settings: ExpiryAlertSettings): PeriodicTask {
  return { name: 'expiry alerts', everySeconds: EVERY_SECONDS, run: () => alertExpiry(settings) }
}

/**
 * Raises an alert when a certificate or key is about to expire, and one more when it has expired. Each is raised once,
 * although every process looks.
 */
export async function alertExpiry({ db, profile, clock }: ExpiryAlertSettings): Promise<number> {
  await fillCertificateExpiry(db)
  return inTransaction(db, async (tx) => {
    await lockNames(tx, 'worker', [LOCK])
    const now = clock.now()
    const found = await findExpiring(tx, profile, now)
    const noticed = new Map((await listNotices(tx, MAXIMUM_NOTICES)).map((each) => [each.subject, each]))
    const news = found.filter(({ subject, expiresAt }) => {
      const known = noticed.get(subject)
      return known?.expires_at !== expiresAt || (expiresAt <= now && !known.is_expired)
    })
    for (const { subject, organizationId, expiresAt } of news) {
      const is_expired = expiresAt <= now
      await saveNotice(
        tx,
        { subject, organization_id: organizationId, expires_at: expiresAt, is_expired },
        now,
      )
    }
    await removeOtherNotices(
      tx,
      found.map(({ subject }) => subject),
    )
    await raiseAlerts(
      tx,
      news.map((each) => ({
        organizationId: each.organizationId,
        kind: each.kind,
        reason: reasonOf(each, now),
        now,
      })),
    )
    return news.length
  })
}

function reasonOf({ what, expiresAt }: Expiring, now: string): string {
  return expiresAt <= now ? `${what} expired at ${expiresAt}.` : `${what} expires at ${expiresAt}.`
}
