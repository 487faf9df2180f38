import type { DeploymentProfile } from '@agent-exchange/protocol'
import { type Database, inTransaction } from '@agent-exchange/database'
import { secondsAfter, type Clock } from '@agent-exchange/server/clock'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { alertMail, type AlertMail } from './alert-mail.ts'
import { claimAlerts, markMailed, markNotMailed, takeNew } from './alert-store.ts'
import { nextMail, type AlertRow, type MailOrder } from './alert-queries.ts'

/** One mail about an endpoint or organization in this time; the next one tells what came meanwhile. */
const QUIET_SECONDS = 3_600
/** Longer than any attempt to send takes. */
const LEASE_SECONDS = 300
/** Before the second, third, ... try. After the last the alert is still listed and logged. */
const RETRY_SECONDS = [60, 300, 1_800, 7_200, 21_600]
const ALERTS_PER_MAIL = 10_000
const ALERTS_PER_LOGGING = 1_000
const MAXIMUM_ROUNDS = 100
const MAXIMUM_ERROR_CHARACTERS = 300

export interface AlertOutboxSettings {
  readonly db: Database
  readonly profile: DeploymentProfile
  readonly clock: Clock
  readonly publicUrl: string
  /** A pino logger fits. */
  readonly log: { warn(fields: object, message: string): void }
  /** Undefined: there is no mail server. */
  readonly send: ((mail: AlertMail) => Promise<void>) | undefined
}

export interface AlertRound {
  readonly logged: number
  readonly mailed: number
  readonly notMailed: number
}

/** Interval between runs that report new alerts. */
const EVERY_SECONDS = 10

export function alertTask(settings: AlertOutboxSettings): PeriodicTask {
  return { name: 'alerts', everySeconds: EVERY_SECONDS, run: () => tellAlerts(settings) }
}

/**
 * O-19: tells of alerts that were raised: each in the log, and by mail to the organization's contact, bundled by
 * endpoint and, for certificates, keys and the transparency log, by organization. Any number of processes may run it; nothing is sent inside a transaction.
 */
export async function tellAlerts(settings: AlertOutboxSettings): Promise<AlertRound> {
  const logged = await logNew(settings)
  let [mailed, notMailed] = [0, 0]
  for (let round = 0; settings.send && round < MAXIMUM_ROUNDS; round++) {
    const claim = await claimMail(settings)
    if (!claim) break
    if (await sendMail(claim, settings.send, settings)) mailed++
    else notMailed++
  }
  return { logged, mailed, notMailed }
}

async function logNew({ db, profile, send, log }: AlertOutboxSettings): Promise<number> {
  const { channels } = profile['O-19']
  const mail = send !== undefined && channels.includes('mail')
  let total = 0
  for (let round = 0; round < MAXIMUM_ROUNDS; round++) {
    const taken = await inTransaction(db, async (tx) => {
      const alerts = await takeNew(tx, { mail, limit: ALERTS_PER_LOGGING })
      // Before the commit: rather twice than never.
      if (channels.includes('log')) for (const bundle of bundles(alerts)) log.warn(bundle, 'alert')
      return alerts.length
    })
    total += taken
    if (taken < ALERTS_PER_LOGGING) break
  }
  return total
}

/** A line for each endpoint and kind, however many there are. */
function bundles(alerts: readonly AlertRow[]): object[] {
  const groups = Map.groupBy(alerts, ({ webhook_endpoint_id, kind }) => `${webhook_endpoint_id} ${kind}`)
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (!first) return []
    const { kind, webhook_endpoint_id, organization_id, delivery_id, reason, raised_at } = first
    const count = others.length + 1
    return [{ alert: kind, count, webhook_endpoint_id, organization_id, delivery_id, reason, raised_at }]
  })
}

interface Claim {
  readonly order: MailOrder
  readonly alerts: readonly AlertRow[]
}

async function claimMail({ db, clock }: AlertOutboxSettings): Promise<Claim | undefined> {
  const now = clock.now()
  const pace = {
    now,
    quietSince: secondsAfter(now, -QUIET_SECONDS),
    leasedUntil: secondsAfter(now, LEASE_SECONDS),
    limit: ALERTS_PER_MAIL,
  }
  return inTransaction(db, async (tx) => {
    const order = await nextMail(tx, pace)
    if (!order) return undefined
    const alerts = await claimAlerts(tx, order, pace)
    return alerts.length > 0 ? { order, alerts } : undefined
  })
}

async function sendMail(
  { order, alerts }: Claim,
  send: NonNullable<AlertOutboxSettings['send']>,
  { db, clock, publicUrl, log }: AlertOutboxSettings,
): Promise<boolean> {
  try {
    await send(alertMail(order, alerts, publicUrl))
  } catch (failure) {
    const error = errorLine(failure)
    const now = clock.now()
    const nextAt = (tries: number) => {
      const seconds = RETRY_SECONDS[tries - 1]
      return seconds === undefined ? undefined : secondsAfter(now, seconds)
    }
    await markNotMailed(db, alerts, { error, nextAt })
    const { webhook_endpoint_id, organization_id } = order
    log.warn({ webhook_endpoint_id, organization_id, error, alerts: alerts.length }, 'alert mail not sent')
    return false
  }
  await markMailed(db, alerts, clock.now())
  return true
}

/** A mail server may repeat what it was sent; its first line is enough. */
function errorLine(failure: unknown): string {
  const text = failure instanceof Error ? failure.message : 'unknown failure'
  return (text.split(/\r?\n/)[0] ?? '').slice(0, MAXIMUM_ERROR_CHARACTERS)
}
